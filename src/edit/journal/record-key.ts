// Record key: the record of a text, as a value, a map key, a directory name, and the name of its draft for people.
import { createHash } from 'node:crypto'
import { fixedNames } from '../../layout.js'
import type { RecordKind } from '../../remote/remote.js'

/**
 * A record by its number; a new one by the file name under which it is being made; an order, which is a report's list as
 * `order.txt` shows it. A share needs its project, because only a project lists it.
 */
export interface RecordKey {
  readonly kind: 'record' | 'new' | 'order'
  readonly of: RecordKind
  readonly id: string
  readonly project?: string | undefined
}

/** The record that a save of this text changes: an order is a part of its report. */
export const savedKeyOf = (key: RecordKey): RecordKey =>
  key.kind === 'order' ? { ...key, kind: 'record' } : key

export const recordPhrase = ({ kind, of, id }: RecordKey): string =>
  `${kind === 'order' ? 'order of ' : ''}${of} ${id}`

/** One name for one record: safe as a file name whatever the id holds. */
export function keyName({ kind, of, id, project }: RecordKey): string {
  const own = `${of}-${directoryNameOf(id)}`
  if (kind === 'record') return own
  return project === undefined ? `${kind}-${own}` : `${kind}-${project}-${own}`
}

/** The number in the name of a record of this kind; undefined for any other name. */
export const numberIn = (name: string, kind: RecordKind): string | undefined =>
  name.startsWith(`${kind}-`) && /^[0-9]+$/.test(name.slice(kind.length + 1))
    ? name.slice(kind.length + 1)
    : undefined

/** The longest name that leaves room in 255 bytes for what is put before it. */
const longest = 180

function directoryNameOf(id: string): string {
  const name = encodeURIComponent(id)
  return name.length <= longest ? name : createHash('sha256').update(id).digest('hex')
}

/** The name of a draft in `.calcfs/drafts/`, a report's like its file, others with their kind; without an ending: what is about the text is called like it, `42.theirs.json` beside `42.json`. */
export function draftStem(key: RecordKey | undefined, id: string): string {
  if (key === undefined || key.id.includes('/')) return `unknown-${id.slice(0, 8)}`
  if (key.kind === 'order') return `${key.id}-${fixedNames.order}`
  if (key.kind === 'new') return newStem(key)
  return key.of === 'report' ? key.id : `${key.of}-${key.id}`
}

/** The ending behind the stem: an order has its ending in it. */
export const draftEnding = (stem: string): string => (stem.endsWith(fixedNames.order) ? '' : '.json')

/** The rest of a damaged text is called so, after its whole name. */
export const damagedEnding = '.damaged'

/** `new-dyes.json` of the reports is `new-dyes`, `new.json` of project 100's shares `share-100-new`. */
function newStem({ of, id, project }: RecordKey): string {
  const stem = shortened(id.replace(/\.json$/, ''))
  return of === 'report' ? stem : `${of}-${project}-${stem}`
}

/** So that `.theirs.json` and the like still fit: 255 bytes are the end of every name. */
function shortened(stem: string): string {
  let short = stem
  while (Buffer.byteLength(short) > longestStem) short = [...short].slice(0, -1).join('')
  return short
}

const longestStem = 200
