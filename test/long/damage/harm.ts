// What can happen to files on a disk while no daemon runs: flipped bits, lost sectors, mixed-up names, and things that are no files.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Chance } from '../chance.js'

export interface Harm {
  readonly name: string
  /** Below the home directory. */
  readonly path: string
  /** Further paths that were touched. */
  readonly also: readonly string[]
}

interface Target {
  /** A file of ours, or a directory where the harm is one of directories. */
  readonly path: string
  /** Any other file of ours. */
  readonly other: string
  /** A file outside that nothing may touch. */
  readonly outside: string
  readonly pick: Chance
}

const sector = 4096

/** Bytes of a file, changed and written back in place. */
function edited(path: string, change: (bytes: Buffer) => Buffer): void {
  fs.writeFileSync(path, change(fs.readFileSync(path)))
}

function over(path: string, make: () => void): void {
  fs.rmSync(path, { recursive: true, force: true })
  make()
}

function flip(bytes: Buffer, pick: Chance): Buffer {
  if (bytes.length === 0) return Buffer.from([1])
  for (let left = pick.whole(1, 8); left > 0; left -= 1) {
    const at = pick.whole(0, bytes.length - 1)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << pick.whole(0, 7))
  }
  return bytes
}

/** One sector holds something else. */
function sectorOf(bytes: Buffer, pick: Chance, fill: (length: number) => Buffer): Buffer {
  const at = pick.whole(0, Math.floor(bytes.length / sector)) * sector
  fill(Math.min(sector, bytes.length - at)).copy(bytes, at)
  return bytes
}

/** Of a file, and of a directory. */
const ofBoth: Readonly<Record<string, (target: Target) => void>> = {
  'a FIFO': ({ path }) => over(path, () => void spawnSync('mkfifo', [path])),
  'a link to itself': ({ path }) => over(path, () => fs.symlinkSync(basename(path), path)),
  'another name': ({ path, pick }) => fs.renameSync(path, join(dirname(path), pick.word(3, 12))),
  'a link to nothing': ({ path }) => over(path, () => fs.symlinkSync('/nonexistent/directory', path)),
  'mode 0000': ({ path }) => fs.chmodSync(path, 0),
}

const ofFiles: Readonly<Record<string, (target: Target) => void>> = {
  ...ofBoth,
  'bits flipped': ({ path, pick }) => edited(path, bytes => flip(bytes, pick)),
  'one byte changed': ({ path, pick }) =>
    edited(path, bytes => {
      if (bytes.length > 0) bytes[pick.whole(0, bytes.length - 1)] = pick.whole(0, 255)
      return bytes
    }),
  'cut short': ({ path, pick }) => fs.truncateSync(path, pick.whole(0, fs.statSync(path).size)),
  emptied: ({ path }) => fs.truncateSync(path, 0),
  'one byte shorter': ({ path }) => fs.truncateSync(path, Math.max(0, fs.statSync(path).size - 1)),
  'longer by zeros': ({ path, pick }) => fs.truncateSync(path, fs.statSync(path).size + pick.whole(1, 9_000)),
  'junk behind it': ({ path, pick }) => fs.appendFileSync(path, pick.bytes(pick.whole(1, 5_000))),
  'a sector of zeros': ({ path, pick }) =>
    edited(path, bytes => sectorOf(bytes, pick, length => Buffer.alloc(length))),
  'a sector of junk': ({ path, pick }) =>
    edited(path, bytes => sectorOf(bytes, pick, length => pick.bytes(length))),
  'all zeros': ({ path }) => edited(path, bytes => bytes.fill(0)),
  'all junk': ({ path, pick }) => edited(path, bytes => pick.bytes(bytes.length)),
  'the bytes of another file': ({ path, other }) => fs.copyFileSync(other, path),
  swapped: ({ path, other }) => {
    const bytes = fs.readFileSync(path)
    fs.copyFileSync(other, path)
    fs.writeFileSync(other, bytes)
  },
  gone: ({ path }) => fs.rmSync(path),
  'a second name': ({ path, pick }) => fs.linkSync(path, join(dirname(path), pick.word(3, 12))),
  'a device': ({ path }) => over(path, () => void spawnSync('mknod', [path, 'c', '1', '5'])),
  'a directory': ({ path }) => over(path, () => fs.mkdirSync(path)),
  'a directory with a file': ({ path }) =>
    over(path, () => {
      fs.mkdirSync(path)
      fs.writeFileSync(join(path, 'x'), 'x')
    }),
  'a link to a file outside': ({ path, outside }) => over(path, () => fs.symlinkSync(outside, path)),
  'a link to /dev/zero': ({ path }) => over(path, () => fs.symlinkSync('/dev/zero', path)),
  'mode 0666': ({ path }) => fs.chmodSync(path, 0o666),
  'from the future': ({ path }) => fs.utimesSync(path, 4_000_000_000, 4_000_000_000),
  'from 1970': ({ path }) => fs.utimesSync(path, 0, 0),
}

const ofDirectories: Readonly<Record<string, (target: Target) => void>> = {
  ...ofBoth,
  gone: ({ path }) => fs.rmSync(path, { recursive: true }),
  emptied: ({ path }) =>
    over(path, () => {
      fs.mkdirSync(path)
    }),
  'a file': ({ path }) => over(path, () => fs.writeFileSync(path, 'x')),
  'things that are not ours in it': ({ path, pick }) => {
    for (const name of [
      pick.word(3, 8),
      '.DS_Store',
      '00000000-0000-0000-0000-000000000000',
      'lock',
      'x.tmp',
      'meta.json',
      'text',
    ])
      fs.writeFileSync(join(path, name), pick.bytes(pick.whole(0, 200)), { flag: 'a' })
    fs.mkdirSync(join(path, pick.word(3, 8)))
    spawnSync('mkfifo', [join(path, 'fifo')])
  },
  'mode 0777': ({ path }) => fs.chmodSync(path, 0o777),
}

/** Every file and directory of ours below a home, as paths below it. */
function oursIn(home: string): { files: string[]; directories: string[] } {
  const files: string[] = []
  const directories: string[] = []
  for (const room of ['cache', 'state']) {
    for (const entry of fs.readdirSync(join(home, room), { recursive: true, withFileTypes: true })) {
      const path = relative(home, join(entry.parentPath, entry.name))
      if (entry.isFile()) files.push(path)
      if (entry.isDirectory()) directories.push(path)
    }
  }
  return { files: files.sort(), directories: directories.sort() }
}

/** What may be harmed: anything of ours, or a kept content. */
export type Aim = 'anything' | 'contents'

/**
 * Does a random harm for each aim, no file twice. Of anything, files of the journal and the ledgers are few, and chosen as
 * often as all the contents together.
 */
export function harms(home: string, aims: readonly Aim[], outside: string, pick: Chance): Harm[] {
  const done: Harm[] = []
  for (const aim of aims) {
    const { files, directories } = oursIn(home)
    const isDirectory = aim === 'anything' && pick.once(6)
    const contents = files.filter(path => path.includes('/content/'))
    const rest = files.filter(path => !path.includes('/content/') && !path.includes('/texts/'))
    const from = isDirectory
      ? directories
      : pick.of(aim === 'contents' ? [contents] : [contents, rest, rest, files])
    if (from.length === 0) continue
    const path = pick.of(from)
    const other = pick.of(files)
    if (done.some(before => [before.path, ...before.also].includes(path))) continue
    const table = isDirectory ? ofDirectories : ofFiles
    const name = pick.of(Object.keys(table))
    table[name]?.({ path: join(home, path), other: join(home, other), outside, pick })
    done.push({ name, path, also: name === 'swapped' ? [other] : [] })
  }
  return done
}
