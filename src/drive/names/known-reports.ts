// The reports known here: no operation lists reports, so those created, opened or added are remembered with what their records said.
import { z } from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Dialect, idForm, type ReportId } from '../../remote/remote.js'
import { compareIds } from '../nodes/name.js'
import { reportIdentity, type ShownThings } from './shown-things.js'

/** One line of INDEX.tsv. */
export interface KnownReport {
  readonly id: ReportId
  readonly title: string
  readonly type: string
  readonly calculations: number | undefined
}

export interface KnownReports {
  /** In the order of their ids. */
  list(): readonly KnownReport[]
  /** Remembers a report with what its record says now, which a program was shown unless it is `unseen`. */
  add(id: ReportId, record: JsonObject, how?: 'unseen'): void
  /** Keeps a known report's line true; an unknown report stays unknown. */
  refresh(id: ReportId, record: JsonObject): void
  /** The service said that it is gone. */
  drop(id: ReportId): void
}

const room = 'known-reports'

const lineForm = z.object({ title: z.string(), type: z.string(), calculations: z.number().optional() })

/** A line that another version wrote says nothing, but the report stays known. */
function lineIn(text: string): Omit<KnownReport, 'id'> {
  try {
    const { title, type, calculations } = lineForm.parse(JSON.parse(text))
    return { title, type, calculations }
  } catch {
    return { title: '', type: '', calculations: undefined }
  }
}

export function openKnownReports(
  ledger: Ledger,
  { dialect, shown }: { readonly dialect: Dialect; readonly shown: ShownThings },
): KnownReports {
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
    list: () =>
      [...ledger.entries(room)]
        .filter(([id]) => idForm.test(id))
        .map(([id, kept]) => ({ id: id as ReportId, ...lineIn(kept.value) }))
        .sort((a, b) => compareIds(a.id, b.id)),
    add(id, record, how) {
      keepLine(id, record)
      if (how === undefined) shown.shown({ of: 'report', id }, reportIdentity(dialect.facts(record)))
    },
    refresh(id, record) {
      shown.told([[{ of: 'report', id }, reportIdentity(dialect.facts(record))]])
      if (ledger.get(room, id) !== undefined) keepLine(id, record)
    },
    drop: id => ledger.delete(room, id),
  }
}
