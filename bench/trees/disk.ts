// Writes a tree to the local disk, for sshfs and for the floor of a local disk.
import { mkdir, open, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { longestStretch, stretch } from './bytes.js'
import { type Entry, modifiedOf, pathsOf, type TreeFile } from './paths.js'
import type { Tree } from './trees.js'

/** Writes the same names, bytes and dates that the doors show into `directory`, which is made. */
export async function writeTree(tree: Tree, directory: string): Promise<void> {
  const paths = pathsOf(tree)

  async function write(path: string): Promise<void> {
    const place = paths.at(path)
    if (place === undefined) throw new Error(`the tree lists ${path} and does not have it`)
    const target = join(directory, path)
    if (place.kind === 'file') return writeFile(target, place.file)
    await mkdir(target, { recursive: true })
    for (const { name } of paths.entries(place) ?? ([] as readonly Entry[])) await write(`${path}/${name}`)
    const id = place.kind === 'project' ? place.project.id : place.calculation.id
    await dated(target, id)
  }

  await write('')
}

async function writeFile(target: string, file: TreeFile): Promise<void> {
  const handle = await open(target, 'w')
  try {
    for (let at = 0; at < file.size; at += longestStretch)
      await handle.appendFile(stretch(file, at, longestStretch))
  } finally {
    await handle.close()
  }
  await dated(target, file.calculation)
}

const dated = (target: string, id: number): Promise<void> =>
  utimes(target, new Date(modifiedOf(id)), new Date(modifiedOf(id)))
