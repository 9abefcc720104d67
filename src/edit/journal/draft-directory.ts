// Draft directory: built aside with text and note, then moved into place, so that none exists without its note.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asFailure } from '../../failure.js'
import {
  makeDirectory,
  privateDirectory,
  privateFile,
  replaceFile,
  syncDirectory,
} from '../../system/own-file.js'
import { type DraftMeta, printMeta } from './draft-meta.js'

/** Text, note and names survive a power cut. @throws Failure after which nothing is left of the attempt */
export async function placeDraft(directory: string, text: Uint8Array, meta: DraftMeta): Promise<void> {
  const root = dirname(directory)
  const aside = join(root, `.${randomUUID()}`)
  try {
    // The state directory may have been deleted while it is mounted.
    await makeDirectory(root)
    await mkdir(aside, { mode: privateDirectory })
    await writeText(join(aside, 'text'), text)
    // Syncs the directory, and with it the name of the text.
    await replaceFile(join(aside, 'meta.json'), printMeta(meta))
    await rename(aside, directory)
  } catch (thrown) {
    await rm(aside, { recursive: true, force: true })
    throw asFailure(thrown)
  }
  await syncDirectory(root)
}

async function writeText(path: string, text: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', privateFile)
  try {
    if (text.length === 0) return
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
