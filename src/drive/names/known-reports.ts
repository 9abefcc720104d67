// Known reports: no operation lists reports, so those created, opened or added are remembered with what their records said.
import * as z from 'zod'
import { type Ledger, valueIn } from '../../cache/ledger/ledger.js'
import { foundOnce } from '../../recent-map.js'
import type { JsonObject } from '../../record/json/json.js'
import { idForm, type ReportId } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
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
  /** A record never changes, and its rows may be many. */
  readonly #line = foundOnce((record: JsonObject) =>
    JSON.stringify({
      title: this.dialect.facts(record).title ?? '',
      type: this.dialect.reports.type(record) ?? '',
      calculations: this.dialect.lists.rows(record)?.length,
    }),
  )

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
    const { ledger } = this
    const line = this.#line(record)
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
