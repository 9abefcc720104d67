// Known reports: no operation lists reports, so those created, opened or added are remembered with what their records said.
import * as z from 'zod'
import { type Ledger, valueIn } from '../../cache/ledger/ledger.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Dialect, idForm, type ReportId } from '../../remote/remote.js'
import { compareIds } from '../nodes/name.js'

export interface KnownReport {
  readonly id: ReportId
  readonly title: string
  readonly type: string
  readonly calculations?: number | undefined
}

const room = 'known-reports'

const lineForm = z.object({ title: z.string(), type: z.string(), calculations: z.number().optional() })

export class KnownReports {
  /** Of records that were looked at: a record never changes, and its rows may be many. */
  readonly #lines = new WeakMap<JsonObject, string>()

  constructor(
    private readonly ledger: Ledger,
    private readonly dialect: Dialect,
  ) {}

  list(): readonly KnownReport[] {
    return [...this.ledger.entries(room)]
      .filter(([id]) => idForm.test(id))
      .map(([id, { value }]) => ({
        id: id as ReportId,
        ...(valueIn(lineForm, value) ?? { title: '', type: '' }),
      }))
      .sort((a, b) => compareIds(a.id, b.id))
  }

  add(id: ReportId, record: JsonObject): void {
    const { dialect, ledger } = this
    const line =
      this.#lines.get(record) ??
      JSON.stringify({
        title: dialect.facts(record).title ?? '',
        type: dialect.reportType(record) ?? '',
        calculations: dialect.rows(record)?.length,
      })
    this.#lines.set(record, line)
    if (ledger.get(room, id) === line) return
    ledger.set(room, id, line)
    // No operation of the service would bring this list back.
    ledger.flush()
  }

  /** Keeps a known report's line true; an unknown report stays unknown. */
  refresh(id: ReportId, record: JsonObject): void {
    if (this.ledger.get(room, id) !== undefined) this.add(id, record)
  }

  /** The service says that it is gone, or its number is another one's. */
  drop(id: ReportId): void {
    this.ledger.delete(room, id)
  }
}
