// Known reports: no operation lists reports, so those created, opened or added are remembered with what their records said.
import * as z from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Dialect, idForm, type ReportId } from '../../remote/remote.js'
import { compareIds } from '../nodes/name.js'

/** One line of INDEX.tsv. */
export interface KnownReport {
  readonly id: ReportId
  readonly title: string
  readonly type: string
  readonly calculations: number | undefined
}

const room = 'known-reports'

const lineForm = z.object({
  title: z.string(),
  type: z.string(),
  calculations: z.number().optional(),
  gone: z.literal(true).optional(),
})

/** A line that another version wrote says nothing, but the report stays known. */
function lineIn(text: string): Omit<KnownReport, 'id'> & { readonly isGone: boolean } {
  try {
    const { title, type, calculations, gone = false } = lineForm.parse(JSON.parse(text))
    return { title, type, calculations, isGone: gone }
  } catch {
    return { title: '', type: '', calculations: undefined, isGone: false }
  }
}

export function openKnownReports(ledger: Ledger, dialect: Dialect) {
  const known = () =>
    [...ledger.entries(room)]
      .filter(([id]) => idForm.test(id))
      .map(([id, kept]) => ({ id: id as ReportId, ...lineIn(kept.value) }))
      .sort((a, b) => compareIds(a.id, b.id))

  function keepLine(id: ReportId, record: JsonObject): void {
    const line = JSON.stringify({
      title: dialect.facts(record).title ?? '',
      type: dialect.reportType(record) ?? '',
      calculations: dialect.rows(record)?.length,
    })
    if (ledger.get(room, id) === line) return
    ledger.set(room, id, line)
    // No operation of the service would bring this list back.
    ledger.flush()
  }

  return {
    /** In the order of their ids, without those that are gone. */
    list: (): readonly KnownReport[] => known().flatMap(({ isGone, ...report }) => (isGone ? [] : [report])),
    /** Those of which the service has said that they are gone, and that it has not shown since. */
    gone: (): readonly ReportId[] => known().flatMap(({ isGone, id }) => (isGone ? [id] : [])),
    /** Remembers a report with what its record says now. */
    add: keepLine,
    /** Keeps a known report's line true; an unknown report stays unknown. */
    refresh(id: ReportId, record: JsonObject): void {
      if (ledger.get(room, id) !== undefined) keepLine(id, record)
    },
    /** The service says that it is gone: remembered, for no operation would list it where that passes. */
    lose(id: ReportId): void {
      const kept = ledger.get(room, id)
      if (kept === undefined) return
      const { isGone, ...line } = lineIn(kept)
      if (!isGone) ledger.set(room, id, JSON.stringify({ ...line, gone: true }))
    },
    /** It was deleted here, or its number is another one's. */
    drop: (id: ReportId): void => ledger.delete(room, id),
  }
}

export type KnownReports = ReturnType<typeof openKnownReports>
