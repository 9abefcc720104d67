// Which drive the paths of a command mean, its reader, of the daemon or assembled in this process, and what to type where a path leads nowhere.
import { join, posix, relative } from 'node:path'
import type { Command } from 'commander'
import { nearestName } from '../../config/nearest.js'
import { type DriveReader, isProblem } from '../../drive/interface/reader.js'
import { Failure, isAbsent } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { shellWord } from '../../login-command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { configured } from '../../terminal/settings.js'
import { daemonAt } from './find-daemon.js'
import { type LocalPlace, placeOn } from './select-mount.js'
import { mountedDrive, refuseElsewhere } from './with-drive.js'

/** A path of a command. */
export interface GivenPath {
  /** As it was typed. */
  readonly given: string
  /** On the drive, with a leading slash, without `.` and `..`. */
  readonly path: string
}

interface Located {
  readonly given: string
  readonly below: LocalPlace | undefined
}

/**
 * Does the work with the reader of the drive that the paths mean. A path is one of this machine at or below a mount point,
 * else one of the drive.
 * @throws Stop where the paths lie on several drives, NoAnswer where a daemon is dead or hangs
 */
export async function withReader<Result>(
  command: Command,
  given: readonly string[],
  work: (reader: DriveReader, paths: readonly GivenPath[]) => Promise<Result>,
): Promise<Result> {
  const located = await Promise.all(given.map(async one => ({ given: one, below: await placeOn(one) })))
  for (const { given, below } of located) if (below === undefined) refuseElsewhere(given)
  const mountPoint = oneMount(located) ?? (await mountedDrive(command))
  const paths = located.map(place => onDrive(place, mountPoint))
  if (mountPoint !== undefined) return work(await (await daemonAt(mountPoint)).reader(), paths)
  // Most of the program, which a command with a daemon need not load.
  const { readerWithoutDaemon } = await import('./without-daemon.js')
  return readerWithoutDaemon(configured(command), reader => work(reader, paths))
}

function oneMount(located: readonly Located[]): string | undefined {
  const mountPoints = [...new Set(located.flatMap(({ below }) => below?.mountPoint ?? []))]
  if (mountPoints.length < 2) return mountPoints[0]
  throw new Stop(
    exitCodes.usage,
    `the paths lie on several drives: ${mountPoints.join(', ')}; give those of one drive at a time.`,
  )
}

function onDrive({ given, below }: Located, mountPoint: string | undefined): GivenPath {
  if (below !== undefined) return { given, path: join('/', relative(mountPoint ?? '/', below.local)) }
  const path = posix.normalize(`/${given}`)
  return { given, path: path === '/' ? path : path.replace(/\/$/, '') }
}

/** So many names of a directory are compared: of a long one the advice is to list it. */
const comparedAtMost = 2_000

/**
 * The same failure with what to type next, where there is nothing at the path; any other as it is.
 * @param following the arguments after it: a name with blanks, without quotes, goes on there
 */
export async function withHint(
  reader: DriveReader,
  thrown: unknown,
  { given, path }: GivenPath,
  following: readonly string[] = [],
): Promise<unknown> {
  if (!isAbsent(thrown) || path === '/') return thrown
  let directory = parentOf(path) || '/'
  for (;;) {
    const names = await namesIn(reader, directory)
    if (names !== undefined) {
      const written = path.slice(directory === '/' ? 1 : directory.length + 1)
      const hint = hintFor(written, { names, above: shownAbove(given, written), following })
      return new Failure('absent', `${thrown.message}; ${hint}`, { cause: thrown })
    }
    if (directory === '/') return thrown
    directory = parentOf(directory) || '/'
  }
}

/** The arguments that follow one of several. */
export const after = (paths: readonly GivenPath[], at: number): readonly string[] =>
  paths.slice(at + 1).map(({ given }) => given)

/** The same for a command that does not read the drive. @throws what the work throws */
export async function hinted<Result>(
  command: Command,
  given: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (!isAbsent(thrown)) throw thrown
    throw await withReader(command, [given], async (reader, [at]) =>
      at === undefined ? thrown : withHint(reader, thrown, at),
    ).catch(() => thrown)
  }
}

interface Around {
  readonly names: readonly string[]
  /** The directory as the user would write it. */
  readonly above: string
  readonly following: readonly string[]
}

function hintFor(written: string, { names, above, following }: Around): string {
  const name = firstOf(written)
  const longer = following
    .map((_, at) => firstOf([name, ...following.slice(0, at + 1)].join(' ')))
    .find(joined => !written.includes('/') && names.includes(joined))
  if (longer !== undefined) return `a name with blanks stands in quotes: ${shellWord(nameIn(above, longer))}`
  const near = names.length > comparedAtMost ? undefined : nearestName(name, names)
  if (near !== undefined) return `the nearest is ${shellWord(nameIn(above, near))}`
  return `calcfs ls${above === '' ? '' : ` ${shellWord(above)}`} lists what there is`
}

/** Undefined where they cannot be had; of a long directory only the first. */
async function namesIn(reader: DriveReader, path: string): Promise<readonly string[] | undefined> {
  const names: string[] = []
  const asked = { path, depth: 1, attributes: false, follow: false, filter: {} }
  for await (const items of reader.tree(asked, new AbortController().signal)) {
    if (items.some(isProblem)) return undefined
    names.push(...items.filter(item => item.path !== path).map(item => lastNameOf(item.path)))
    if (names.length > comparedAtMost) break
  }
  return names
}

/** What was given without the names that are not there. */
function shownAbove(given: string, written: string): string {
  const below = written.replace(/\/+/g, '/')
  const plain = given.replace(/\/+/g, '/').replace(/\/$/, '')
  const above = plain.endsWith(below) ? plain.slice(0, -below.length) : '/'
  return above === '/' ? above : above.replace(/\/$/, '')
}

const firstOf = (path: string): string => path.replace(/\/.*/s, '')

const nameIn = (above: string, name: string): string =>
  above === '' || above.endsWith('/') ? `${above}${name}` : `${above}/${name}`
