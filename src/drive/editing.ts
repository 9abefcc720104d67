// Which records can be edited on this mount, where their texts come from, and what happens after a save.
import type { Catalog, Readable } from '../cache/catalog.js'
import type { Times } from '../cache/times.js'
import type { EditableRecord } from '../edit/editable.js'
import type { RecordKey } from '../edit/key.js'
import type { Saver } from '../edit/save.js'
import type { Texts } from '../edit/texts.js'
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json.js'
import { equalJson } from '../record/meaning.js'
import { parseObject } from '../record/parse.js'
import { prettyPrint } from '../record/print.js'
import type { Ask, Dialect } from '../remote/remote.js'
import type { DraftTexts } from './draft-texts.js'
import type { KnownReports } from './known-reports.js'
import { keyOf, type RecordNode } from './node.js'
import type { Editing, RecordSource } from './record-source.js'
import type { Shown } from './shown.js'

export type Access = 'read' | 'edit' | 'manage'

export interface EditingParts {
  readonly access: Access
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly times: Times
  readonly reports: KnownReports
  readonly drafts: DraftTexts
  readonly texts: Texts
  readonly saver: Saver
  /** The kinds of record that can be saved; undefined for the others. */
  readonly editable: (key: RecordKey) => EditableRecord | undefined
  readonly log: (sentence: string, about: { cause: unknown }) => void
  /** Told what the service dropped beside a stored edit. */
  readonly lost: (node: RecordNode, sentence: string) => void
}

export function openRecordSources(parts: EditingParts): (node: RecordNode) => RecordSource {
  const { catalog, dialect, times, texts } = parts
  // What was remembered already in this life of the mount, so that a stat costs no disk.
  const met = new Set<string>()

  /** Beside the way of the data: a text that could not be remembered is at worst no base of an edit. */
  function remember(key: RecordKey, bytes: Uint8Array, how: 'shown' | 'read'): void {
    texts
      .remember(key, Buffer.from(bytes).toString(), how)
      .catch(cause => parts.log('a text that was shown could not be remembered', { cause }))
  }

  async function produce(node: RecordNode, ask: Ask): Promise<Shown> {
    const record = await recordOf(node, catalog, ask)
    const bytes = Buffer.from(prettyPrint(record))
    if (node.of === 'report') parts.reports.refresh(node.id, record)
    const mtime = times.ofText(keyOf(node), bytes, dialect.facts(record).modified)
    const meeting = `${keyOf(node)} ${mtime}`
    if (parts.editable(recordKey(node)) !== undefined && !met.has(meeting)) {
      met.add(meeting)
      remember(recordKey(node), bytes, 'shown')
    }
    return { bytes, mtime }
  }

  function mayEdit(node: RecordNode): Editing | Failure {
    if (parts.access === 'read') return new Failure('read-only', 'the drive is mounted with --access read')
    const editable = parts.editable(recordKey(node))
    if (editable === undefined) {
      return new Failure('not-permitted', `the record of a ${node.of} cannot be changed through the drive`)
    }
    const record = node.of === 'share' ? undefined : catalog.knownRecord(readable(node))
    if (record !== undefined && dialect.facts(record).published) {
      return new Failure('read-only', `this ${node.of} is published: the platform does not let it change`)
    }
    return editing(node, editable)
  }

  function editing(node: RecordNode, editable: EditableRecord): Editing {
    const key = recordKey(node)
    return {
      begin: base => parts.drafts.begin(key, base && Buffer.from(base).toString()),
      noteRead: text => remember(key, text, 'read'),
      async save(draft, base, ask) {
        const own = base && Buffer.from(base).toString()
        const saved = await parts.saver.save({ record: editable, draft, own }, ask)
        if (saved.outcome === 'unchanged') return forgetOther(node, await draft.text())
        if (saved.lost !== undefined) parts.lost(node, saved.lost)
        learn(node, saved.record)
        // The text of the record as it is now is the next one a program may base an edit on.
        remember(key, Buffer.from(saved.text), 'shown')
      },
    }
  }

  /** Nothing new for the service; but where it is not what was known here, what was known is old. */
  function forgetOther(node: RecordNode, text: string): void {
    if (node.of === 'share') return
    const known = catalog.knownRecord(readable(node))
    if (known === undefined || !equalJson(known, parseObject(text))) catalog.refreshRecord(readable(node))
  }

  function learn(node: RecordNode, record: JsonObject): void {
    if (node.of !== 'share') catalog.learnRecord(readable(node), record)
    if (node.of === 'report') parts.reports.add(node.id, record)
  }

  return node => ({
    key: keyOf(node),
    produce: ask => produce(node, ask),
    get editing() {
      return mayEdit(node)
    },
    written: at => times.written(keyOf(node), at),
    seen(text) {
      times.ofText(keyOf(node), text, undefined)
    },
    opened() {
      const known = node.of === 'report' ? catalog.knownRecord(readable(node)) : undefined
      if (node.of === 'report' && known !== undefined) parts.reports.add(node.id, known)
    },
  })
}

/** The record itself; a share is only ever listed with its project's others. */
async function recordOf(node: RecordNode, catalog: Catalog, ask: Ask): Promise<JsonObject> {
  if (node.of !== 'share') return catalog.record(readable(node), ask)
  const share = (await catalog.shares(node.project, ask)).find(({ id }) => id === node.id)
  if (share === undefined) throw new Failure('absent', `share ${node.id} is gone`)
  return share.record
}

function readable(node: Exclude<RecordNode, { of: 'share' }>): Readable {
  switch (node.of) {
    case 'project':
      return { kind: 'project', id: node.id }
    case 'calculation':
      return { kind: 'calculation', id: node.id }
    case 'report':
      return { kind: 'report', id: node.id }
  }
}

const recordKey = (node: RecordNode): RecordKey => ({ kind: node.of, id: node.id })
