// Last step of a copied file: it takes its place only where that is still as it was looked at, and clobbers no kept file.
import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { Failure } from '../../failure.js'
import { codeOf } from '../../system/error-code.js'

export interface TakenPlace {
  /** What stood there when it was looked at; only that is replaced. */
  readonly seen: { readonly inode: number; readonly size: number; readonly mtimeMs: number } | undefined
  /** Whether what is replaced is kept under a numbered name. */
  readonly keeps: boolean
}

/**
 * Answers the name under which what stood there is kept: as `cp --backup=numbered` names it, and never one that is taken.
 * @throws Failure 'replaced' where another program, or another copy, has been there since; an error of the disk
 */
export function moveIntoPlace(aside: string, path: string, { seen, keeps }: TakenPlace): string | undefined {
  if (seen === undefined) {
    if (!isLinked(aside, path)) renameToFree(aside, path)
    rmSync(aside, { force: true })
    return undefined
  }
  refuseChanged(path, seen)
  const kept = keeps ? keepBeside(path, seen) : undefined
  renameSync(aside, path)
  return kept
}

/** What stands there gets a second name; the first goes when the new file takes it, so that there is no moment without a file. */
function keepBeside(path: string, seen: NonNullable<TakenPlace['seen']>): string {
  for (let number = 1; ; number += 1) {
    const name = `${path}.~${number}~`
    if (lstatSync(name, { throwIfNoEntry: false }) !== undefined) continue
    try {
      if (!isLinked(path, name)) {
        renameToFree(path, name)
        return name
      }
    } catch (thrown) {
      // Another copy has taken this name.
      if (thrown instanceof Failure) continue
      throw thrown
    }
    try {
      refuseChanged(path, seen)
    } catch (thrown) {
      rmSync(name, { force: true })
      throw thrown
    }
    return name
  }
}

/** A link never replaces. False on a file system, or of a file, that takes none. @throws Failure 'replaced' where the name is taken */
function isLinked(path: string, name: string): boolean {
  try {
    linkSync(path, name)
    return true
  } catch (thrown) {
    const code = codeOf(thrown) ?? ''
    if (code === 'EEXIST') throw changed(name)
    if (withoutLinks.has(code)) return false
    throw thrown
  }
}

const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

function renameToFree(path: string, name: string): void {
  if (lstatSync(name, { throwIfNoEntry: false }) !== undefined) throw changed(name)
  renameSync(path, name)
}

function refuseChanged(path: string, seen: NonNullable<TakenPlace['seen']>): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const isStill = found?.ino === seen.inode && found.size === seen.size && found.mtimeMs === seen.mtimeMs
  if (!isStill) throw changed(path)
}

const changed = (path: string): Failure =>
  new Failure('replaced', `${path} was changed here while it was copied; give the same command again`)
