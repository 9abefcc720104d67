// Shared by ls, find, cat and get: the values of their flags, an entry in one line, and the names of what cannot be had.
import { InvalidArgumentError } from 'commander'
import {
  type DriveEntry,
  type DriveReader,
  isProblem,
  type TreeQuestion,
} from '../../drive/interface/reader.js'
import { lastNameOf } from '../../layout.js'
import { isoText, localText } from '../../system/time-text.js'
import { type ExitCode, exitCodeOf, exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { complain, type JsonFlag, printJson, printLine } from '../../terminal/print.js'
import type { GivenPath } from '../control/choose.js'

/** Failures of single paths: named at once, by lines for people, and counted for the exit code. */
export class Problems {
  readonly all: { readonly path: string; readonly sentence: string }[] = []
  readonly #codes = new Set<ExitCode>()

  constructor(private readonly print: (line: string) => void = complain) {}

  /** `shown` is how the user calls the path. @throws a Stop, which is no path's: it ends the command */
  readonly add = (shown: string, thrown: unknown): void => {
    if (thrown instanceof Stop) throw thrown
    const sentence = sentenceOf(thrown) ?? ''
    this.#codes.add(exitCodeOf(thrown))
    this.all.push({ path: shown, sentence })
    // Many sentences begin with the path on the drive, or with its last name.
    const name = `${lastNameOf(shown)}: `
    const rest = sentence.startsWith(name) ? sentence.slice(name.length) : sentence
    const hasName = rest.includes(shown) && !sentence.startsWith(`${shown}: `)
    this.print(hasName ? rest : `${shown}: ${rest}`)
  }

  /** 0 without a problem; the code of all of them where they have one, else that of any failure. */
  get exitCode(): ExitCode {
    const [only = exitCodes.done, other] = this.#codes
    return other === undefined ? only : exitCodes.failed
  }
}

/** Does it to each of several: what is done is told at once, with --json in the end, also before a stop; what fails is named. */
export async function eachOf<Done>(
  names: readonly string[],
  act: (name: string) => Promise<Done>,
  { json, told }: JsonFlag & { readonly told: (done: Done) => string },
): Promise<Problems> {
  const problems = new Problems()
  const all: Done[] = []
  try {
    for (const name of names) {
      try {
        const done = await act(name)
        all.push(done)
        if (json !== true) printLine(told(done))
      } catch (thrown) {
        problems.add(name, thrown)
      }
    }
  } finally {
    if (json === true) printJson(all)
  }
  return problems
}

/** An entry of a tree, by its path below the one that was given; empty for that itself. */
export interface Found {
  readonly entry: DriveEntry
  readonly below: string
}

/** The entries of the tree at a path that was given, in batches; what cannot be had is told. */
export async function* entriesAt(
  reader: DriveReader,
  given: GivenPath,
  asked: Omit<TreeQuestion, 'path'>,
  problems: Problems,
): AsyncGenerator<readonly Found[]> {
  const top = given.path === '/' ? '/' : `${given.path}/`
  for await (const items of reader.tree({ ...asked, path: given.path }, new AbortController().signal)) {
    const entries: Found[] = []
    for (const item of items) {
      const below = item.path === given.path ? '' : item.path.slice(top.length)
      if (!isProblem(item)) entries.push({ entry: item, below })
      else problems.add(below === '' ? given.given : shownAs(given, below), item.failure)
    }
    yield entries
  }
}

/** As find(1): the path as it was given, and what is below it. */
export const shownAs = ({ given }: GivenPath, below: string): string => {
  const top = given.replace(/\/+$/, '')
  return below === '' ? top || given : `${top}/${below}`
}

const permissionBits = 0o7777

/** The form of `--json` in `ls` and `find`: absent is what is not known or does not apply. `shown` is how the user calls the path. */
export const printedEntry = (
  { type, kind, id, size, mtime, mode, target }: DriveEntry,
  shown: string,
): object => ({
  path: shown,
  type,
  kind,
  id,
  size: type === 'directory' ? undefined : size,
  mtime: mtime === undefined ? undefined : isoText(mtime),
  mode: (mode & permissionBits).toString(8).padStart(4, '0'),
  target,
})

const letters: Readonly<Record<DriveEntry['type'], string>> = { directory: 'd', link: 'l', file: '-' }

export function longLine(entry: DriveEntry, shown: string, sizeWidth: number): string {
  const { type, size, mtime, mode, target } = entry
  const time = mtime === undefined ? '?'.padEnd(16) : localText(mtime).slice(0, 16)
  const length = (size === undefined ? '?' : String(size)).padStart(sizeWidth)
  return `${letters[type]}${permissions(mode)} ${length} ${time} ${shown}${target === undefined ? '' : ` -> ${target}`}`
}

const permissions = (mode: number): string =>
  [6, 3, 0]
    .map(at => {
      const bits = mode >> at
      return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${bits & 1 ? 'x' : '-'}`
    })
    .join('')

const typeWords: Readonly<Record<string, string>> = { f: 'file', d: 'directory', l: 'link' }
const types = ['file', 'directory', 'link', 'project', 'calculation', 'report']

/** As find(1): several with commas. */
export function entryTypes(text: string): readonly string[] {
  const found = text.split(',').map(word => typeWords[word] ?? word)
  const unknown = found.find(word => !types.includes(word))
  if (unknown === undefined) return found
  throw new InvalidArgumentError(`'${unknown}' is none of f, d, l, ${types.slice(3).join(', ')}.`)
}
