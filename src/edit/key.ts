// Which record a text belongs to, as a value, as a map key and as a directory name.
import type { RecordKind } from '../remote/remote.js'

export interface RecordKey {
  readonly kind: RecordKind
  readonly id: string
}

/** One name for one record: safe as a file name whatever the id holds. */
export function keyName(key: RecordKey): string {
  return `${key.kind}-${encodeURIComponent(key.id)}`
}
