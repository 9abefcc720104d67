// Advice where a path leads nowhere: the nearest name, or the command that lists what there is.
import { nearestName } from '../../config/nearest.js'
import { type DriveReader, isProblem } from '../../drive/interface/reader.js'
import { Failure, isAbsent } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { shellWord } from '../../login-command.js'
import type { GivenPath } from './choose.js'

/** So many names of a directory are compared: of a long one the advice is to list it. */
const comparedAtMost = 2_000

/** The same failure with what to type next, where there is nothing at the path; any other as it is. */
export async function withHint(
  reader: DriveReader,
  thrown: unknown,
  { given, path }: GivenPath,
): Promise<unknown> {
  if (!isAbsent(thrown) || path === '/') return thrown
  let directory = parentOf(path) || '/'
  for (;;) {
    const names = await namesIn(reader, directory)
    if (names !== undefined) {
      const written = path.slice(directory === '/' ? 1 : directory.length + 1)
      const hint = hintFor(firstOf(written), names, shownAbove(given, written))
      return new Failure('absent', `${thrown.message}; ${hint}`, { cause: thrown })
    }
    if (directory === '/') return thrown
    directory = parentOf(directory) || '/'
  }
}

/** For a rejected call about the one path of a command. */
export const hinting =
  ({ reader, paths }: { readonly reader: DriveReader; readonly paths: readonly GivenPath[] }) =>
  async (thrown: unknown): Promise<never> => {
    const [given] = paths
    throw given === undefined ? thrown : await withHint(reader, thrown, given)
  }

/** `above` is the directory as the user would write it. */
function hintFor(name: string, names: readonly string[], above: string): string {
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

/** The arguments without the names that are not there. */
function shownAbove(given: string, written: string): string {
  const below = written.replace(/\/+/g, '/')
  const plain = given.replace(/\/+/g, '/').replace(/\/$/, '')
  const above = plain.endsWith(below) ? plain.slice(0, -below.length) : '/'
  return above === '/' ? above : above.replace(/\/$/, '')
}

const firstOf = (path: string): string => path.replace(/\/.*/s, '')

const nameIn = (above: string, name: string): string =>
  above === '' || above.endsWith('/') ? `${above}${name}` : `${above}/${name}`
