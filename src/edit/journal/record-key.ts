// Record key: the record of a text, as a value, as a map key and as a directory name.
import { createHash } from 'node:crypto'
import type { RecordKind } from '../../remote/remote.js'

/**
 * A record by its number; or `as: 'new'`, by the file name under which it is being made; or `as: 'order'`, a report's
 * list as `order.txt` shows it. A share needs its project, because only a project lists it.
 */
export interface RecordKey {
  readonly kind: RecordKind
  readonly id: string
  readonly project?: string | undefined
  readonly as?: 'new' | 'order' | undefined
}

/** The record that a save of this text changes: an order is a part of its report. */
export const savedKeyOf = ({ as, ...record }: RecordKey): RecordKey =>
  as === 'order' ? record : { ...record, as }

/** The record in a sentence for a person. */
export const recordPhrase = ({ kind, id, as }: RecordKey): string =>
  `${as === 'order' ? 'order of ' : ''}${kind} ${id}`

/** One name for one record: safe as a file name whatever the id holds. */
export function keyName({ kind, id, project, as }: RecordKey): string {
  const own = `${kind}-${directoryNameOf(id)}`
  if (as === undefined) return own
  return project === undefined ? `${as}-${own}` : `${as}-${project}-${own}`
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
