// Title ↔ file name: every name the service holds becomes one legal, reversible file name, and no two share one.
//
//   a/b            → a%2Fb            what no file name may hold is percent-escaped as UTF-8 bytes
//   100%25         → 100%2525         a `%` that would read as an escape is escaped itself; `100%` stays
//   ..             → %2E%2E           `.` and `..` are places, not names
//   .project.json  → %2Eproject.json  so that a child never shadows a file of our own
//   "end "         → end%20           blanks at the end are lost by too many programs
//   TS~c12         → TS%7Ec12         `~c12`, `~p12` and `~h1a2b…` at the end are marks of ours
//   300 bytes      → first bytes…~c12 too long to be reversed by itself: the id in the mark does it
//
// `~p<id>` marks a project, `~c<id>` a calculation, `~h<hash>` a file; a geometry that the service makes carries the mark before `.xyz`.
// In `reports/by-name/`, `~r<id>` before `.json` marks a report.

import { createHash } from 'node:crypto'
import { derivedKinds, derivedNames } from '../../content-kinds.js'
import { fixedNames } from '../../layout.js'
import { emptyIndex } from '../../record/compact/name-index.js'

/** The longest file name Linux takes, in bytes (NAME_MAX). */
export const longestName = 255

/** An entry of a listing that goes by its title; a report stands for its file. */
export interface NamedChild {
  readonly kind: 'project' | 'calculation' | 'report'
  readonly id: string
  readonly title: string
}

const emptyName = '%empty'
/** Names calcfs makes itself beside children, and those an editor makes beside a record of ours. */
const ownNames = new RegExp(
  `^(?:${[...Object.values(fixedNames), '.#']
    .filter(name => name.startsWith('.'))
    .map(name => name.replaceAll('.', '\\.'))
    .join('|')})`,
)
const endings = derivedNames.map(of => derivedKinds[of].ending.replaceAll('.', '\\.')).join('|')
const mark = new RegExp(`~(?=(?:[pc]\\d+|h[0-9a-f]{16})(?:${endings})?$|r\\d+\\.json$)`)
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const illegal = /[\u0000-\u001f\u007f-\u009f/\ufffd\u2028\u2029]/gu
const loneSurrogate = /[\ud800-\udfff]/gu
/** Most titles are like this, and a listing may have a hundred thousand: nothing below finds anything in them. */
const harmless = /^[0-9A-Za-z][0-9A-Za-z _+,.:;=@#&()[\]{}'"!?*-]*(?<! )$/
const escapeLike = /%(?=[0-9A-F]{2}|u[0-9A-F]{4})/g

/** The title as a legal file name that `titleOf` reverses; it may still be too long or collide. */
export function escapeTitle(title: string): string {
  if (title === '') return emptyName
  if (title === emptyName) return `%25${emptyName.slice(1)}`
  if (harmless.test(title)) return title
  return title
    .replace(escapeLike, '%25')
    .replace(illegal, percentBytes)
    .replace(loneSurrogate, unit => `%u${unit.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\.(\.?)$/, (_, second: string) => (second === '' ? '%2E' : '%2E%2E'))
    .replace(ownNames, own => `%2E${own.slice(1)}`)
    .replace(/\s$/u, percentBytes)
    .replace(mark, '%7E')
}

/** The title a file name stands for; the reverse of `escapeTitle`. For a marked name, the part before the mark. */
export function titleOf(name: string): string {
  return unescaped(splitMark(name)?.bare ?? name)
}

/** The title that this name means for a new thing: `50%50` is itself, for no title is shown so; a mark is a part of it. */
export function titleWritten(name: string): string {
  const title = unescaped(name)
  return escapeTitle(title) === name ? title : name
}

function unescaped(name: string): string {
  if (name === emptyName) return ''
  return name.replace(/%u([0-9A-F]{4})|((?:%[0-9A-F]{2})+)/g, (_, unit?: string, bytes?: string) =>
    unit === undefined ? Buffer.from((bytes ?? '').replaceAll('%', ''), 'hex').toString() : fromUnit(unit),
  )
}

/** The names that lead to a path from the root; empty where slashes meet. */
export const namesAlong = (path: string): string[] => path.split('/')

export const titlesIn = (path: string): string[] => namesAlong(path).map(titleOf)

/** A name with a mark in its parts: `TS1~c12` is what `TS1` calculation 12 is always found under. */
export function splitMark(name: string): { bare: string; letter: 'p' | 'c' | 'h'; id: string } | undefined {
  const found = /^(.*)~([pc])(\d+)$/su.exec(name) ?? /^(.*)~(h)([0-9a-f]{16})$/su.exec(name)
  if (found === null) return undefined
  const [, bare = '', letter, id = ''] = found
  return letter === 'p' || letter === 'c' || letter === 'h' ? { bare, letter, id } : undefined
}

/**
 * The file name of each child of one directory, in the children's order. Of equal names the bare one goes to a project before
 * calculation, then the lower id; so the names do not depend on the order in which children became known. A child from
 * which a name is withheld has its marked one.
 */
export function nameChildren(
  children: readonly NamedChild[],
  isWithheld: (child: NamedChild, name: string) => boolean = () => false,
): string[] {
  const bare = children.map(child => escapeTitle(child.title + endingOf(child)))
  const owners = emptyIndex(bare.length, at => bare[at])
  children.forEach((child, at) => {
    if (isWithheld(child, bare[at] ?? '')) return
    const owner = children[owners.find(bare[at] ?? '') ?? -1]
    if (owner === undefined || comesBefore(child, owner)) owners.put(at)
  })
  return children.map((child, at) => {
    const name = bare[at] ?? ''
    return owners.find(name) === at && fits(name) ? name : markedName(child)
  })
}

/** The name that finds this child whatever its siblings are called. */
export function markedName(child: NamedChild): string {
  return withMark(escapeTitle(child.title), `~${letters[child.kind]}${child.id}${endingOf(child)}`)
}

const letters = { project: 'p', calculation: 'c', report: 'r' } as const
const endingOf = ({ kind }: NamedChild): string => (kind === 'report' ? '.json' : '')

export function nameRow(place: string, title: string, calculation: string): string {
  return withMark(escapeTitle(`${place}-${title}`), `~${calculation}`)
}

/** The names of a calculation's files (titles are unique; equal ones are one file). */
export function nameFiles(titles: readonly string[]): Map<string, string> {
  return new Map(titles.map(title => [nameFile(title), title]))
}

function nameFile(title: string): string {
  const name = escapeTitle(title)
  if (fits(name)) return name
  return withMark(name, `~h${createHash('sha256').update(title).digest('hex').slice(0, 16)}`)
}

/** The name of a file that the service makes, in a calculation's folder; it yields to a file that is called the same. */
export function nameDerived(
  calculation: { id: string; title: string },
  ending: string,
  taken: { has(name: string): boolean },
): string {
  const bare = escapeTitle(`${calculation.title}${ending}`)
  if (fits(bare) && !taken.has(bare)) return bare
  return withMark(escapeTitle(calculation.title), `~c${calculation.id}${ending}`)
}

/** True if a name from the kernel can be looked up at all; the binding shows invalid UTF-8 as U+FFFD. */
export function nameFault(name: string): 'name-too-long' | 'name-not-utf8' | undefined {
  if (!fits(name)) return 'name-too-long'
  return name.includes('\ufffd') ? 'name-not-utf8' : undefined
}

/** Ids in the order of their numbers; they may exceed 2^53, so they are compared as text. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

function comesBefore(a: NamedChild, b: NamedChild): boolean {
  if (a.kind !== b.kind) return a.kind === 'project'
  return compareIds(a.id, b.id) < 0
}

/** No character has more than three bytes for each of its units. */
const fits = (name: string): boolean =>
  name.length * 3 <= longestName || Buffer.byteLength(name) <= longestName

/** Cuts at a whole character and never inside an escape, so that what is left still reads. */
function withMark(name: string, ending: string): string {
  const room = longestName - Buffer.byteLength(ending)
  if (Buffer.byteLength(name) <= room) return name + ending
  let cut = ''
  let used = 0
  for (const piece of name.match(/%u[0-9A-F]{4}|%[0-9A-F]{2}|./gsu) ?? []) {
    used += Buffer.byteLength(piece)
    if (used > room) break
    cut += piece
  }
  return cut + ending
}

function percentBytes(text: string): string {
  return [...Buffer.from(text)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

const fromUnit = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
