// The ways in which programs bring a text into a file, each of which must count as one edit.
import { type DriveFiles, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import type { Stage } from '../stage.js'

export const styles = [
  'overwrite',
  'in place',
  'rename over',
  'backup',
  'unlink and create',
  'with fsync',
] as const
export type Style = (typeof styles)[number]

/** Writes the whole text of a file in a folder of records; ends with 'done' or the errno of the save. */
export async function write(testbed: Testbed, path: string, text: string, style: Style): Promise<string> {
  const { files } = testbed
  switch (style) {
    case 'overwrite':
      return outcome(overwrite(testbed, path, text))
    case 'in place':
      return outcome(inPlace(files, path, text))
    case 'with fsync':
      return outcome(inPieces(files, path, text))
    case 'rename over':
      return renameOver(testbed, path, text)
    case 'backup':
      return withBackup(testbed, path, text)
    case 'unlink and create':
      return outcome(files.unlink(path).then(() => overwrite(testbed, path, text)))
  }
}

async function inPlace(files: DriveFiles, path: string, text: string): Promise<void> {
  const file = await files.open(path, 'r+')
  await file.read(1 << 20, 0)
  await file.write(text, 0)
  await file.truncate(Buffer.byteLength(text))
  await file.close()
}

async function inPieces(files: DriveFiles, path: string, text: string): Promise<void> {
  const half = text.slice(0, text.length / 2)
  const file = await files.open(path, 'w')
  await file.write(half, 0)
  await file.sync()
  await file.write(text.slice(half.length), Buffer.byteLength(half))
  await file.close()
}

/** The file next to a record that holds its new text before it is renamed over the record. */
export const besideOf = (path: string): string => `${path.slice(0, path.lastIndexOf('/'))}/sedAbCdEf`

async function renameOver(testbed: Testbed, path: string, text: string): Promise<string> {
  const beside = besideOf(path)
  await overwrite(testbed, beside, text)
  const end = await outcome(testbed.files.rename(beside, path))
  // By the path of before there may be nothing left.
  if (end !== 'done') await outcome(testbed.files.unlink(beside))
  return end
}

/** The old text goes aside, the new one is made in its place, and the old one goes: vim with a backup. */
async function withBackup(testbed: Testbed, path: string, text: string): Promise<string> {
  const { files } = testbed
  const backup = `${path}~`
  const aside = await outcome(files.rename(path, backup))
  if (aside !== 'done') return aside
  const end = await outcome(overwrite(testbed, path, text))
  // A text that renames its project takes the backup along.
  await outcome(files.unlink(backup))
  return end
}

/** Ends with one of the allowed outcomes. @throws Error that says what came instead */
export function expect(what: string, end: string, allowed: readonly string[]): string {
  if (allowed.includes(end)) return end
  throw new Error(`${what} ended with ${end}, and should end with ${[...new Set(allowed)].join(' or ')}`)
}

export const read = ({ theatre }: Stage, path: string): Promise<string> => textOf(theatre.testbed, path)

/** How many requests that change something the service has heard. */
export const heardWrites = ({ theatre }: Stage): number =>
  theatre.testbed.service.heard.filter(({ method }) => method !== 'GET' && method !== 'HEAD').length
