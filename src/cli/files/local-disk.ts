// The local disk of a copy: what stands under a name, what is made there without following a link, and its errors in words.
import { createHash } from 'node:crypto'
import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { asFailure, Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { codeOf } from '../../system/error-code.js'
import { isProcessAlive } from '../../system/process.js'

/** The file under a name, links not followed. Not by a promise, whose thread takes ten times as long for each file of a copy. */
export const standing = (path: string): Stats | undefined =>
  onDisk(path, () => lstatSync(path, { throwIfNoEntry: false }))

export const inTheWay = (path: string): Failure =>
  new Failure('exists', `${path}: something else stands here; move it away`)

export function onDisk<Value>(path: string, work: () => Value): Value {
  try {
    return work()
  } catch (thrown) {
    throw localFailure(thrown, path)
  }
}

/** The failure of an error of the local disk; anything else as it is. */
function localFailure(thrown: unknown, path: string): unknown {
  const code = codeOf(thrown)
  if (code === undefined) return thrown
  const failure = asFailure(thrown)
  const cause = { cause: thrown }
  if (failure.kind === 'no-space')
    return new Failure(
      'no-space',
      `${dirname(path)}: the disk is full; make room, and give the same command again`,
      cause,
    )
  if (failure.kind !== 'internal') return failure
  return new Failure('exists', `${path}: it cannot be made here (${code}); name another place`, cause)
}

/** Makes a directory, or takes one that is there as it is, without the leavings of killed copies. @throws Failure */
export async function makeDirectory(path: string): Promise<void> {
  try {
    mkdirSync(path)
    return
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw localFailure(thrown, path)
  }
  const found = standing(path)
  if (found !== undefined && !found.isDirectory()) throw inTheWay(path)
  await sweep(path)
}

/** Makes a link, or replaces one that leads elsewhere. @throws Failure */
export async function makeLink(path: string, target: string, mtimeMs: number | undefined): Promise<void> {
  const found = standing(path)
  if (found !== undefined && !found.isSymbolicLink()) throw inTheWay(path)
  if (found !== undefined && onDisk(path, () => readlinkSync(path)) === target) return
  await placed(path, aside => {
    symlinkSync(target, aside)
    if (mtimeMs !== undefined) lutimesSync(aside, secondsOf(mtimeMs), secondsOf(mtimeMs))
  })
}

/** The file that `make` makes under another name, renamed to its place once it is whole. @throws Failure */
export async function placed(path: string, make: (aside: string) => MaybePromise<void>): Promise<void> {
  made += 1
  const aside = join(dirname(path), `${prefix}-${process.pid}-${made}`)
  try {
    await make(aside)
    renameSync(aside, path)
  } catch (thrown) {
    rmSync(aside, { force: true })
    throw localFailure(thrown, path)
  }
}

/** Says which process of which machine writes there, and is short, whatever the file is called. */
const prefix = `.calcfs-get-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}`
let made = 0

/** Node cuts a fraction of seconds after its microseconds: half of one more keeps the millisecond. */
export const secondsOf = (milliseconds: number): number => (milliseconds + 0.000_5) / 1000

/** The time of a file or directory, without its bytes. @throws Failure */
export const setTime = (path: string, mtimeMs: number): void =>
  onDisk(path, () => utimesSync(path, secondsOf(mtimeMs), secondsOf(mtimeMs)))

/** Removes what copies of this machine have left that were killed. */
async function sweep(directory: string): Promise<void> {
  for (const name of onDisk(directory, () => readdirSync(directory))) {
    const [, pid] = name.startsWith(prefix) ? (/-(\d+)-\d+$/.exec(name) ?? []) : []
    if (pid === undefined || Number(pid) === process.pid || (await isProcessAlive(Number(pid)))) continue
    rmSync(join(directory, name), { force: true })
  }
}
