// What a durability test edits: one fresh record of each kind, with the word that tells its edit from all others.
import { fieldOf, type Json, type JsonObject, stringJson, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint, prettyPrint } from '../../src/record/json/print.js'
import { openStore } from '../../src/service/store/store.js'
import type { ReceivedRequest } from '../testbed/proxy.js'
import { ids } from '../testbed/sample-data.js'
import { type Testbed, type TestLifetime, textOf } from '../testbed/testbed.js'

export const subjectKinds = ['report', 'rows', 'order', 'project', 'calculation', 'new report'] as const
/** `new list`: a new report with rows and titles, which more than one request makes. */
export type SubjectKind = (typeof subjectKinds)[number] | 'new list'

export interface Subject {
  readonly kind: SubjectKind
  /** The file, and the name of its draft in `.calcfs/drafts/`. */
  readonly path: string
  readonly draft: string
  /** What a program reads before it edits; empty for a file that is not there yet. */
  read(): Promise<string>
  /** The text with the edit in it; no other text holds the word. */
  edited(text: string, word: string): string
  /** Whether the service has all of the edit. */
  isStored(word: string): boolean
  /** How many records of the service hold the word. */
  copies(word: string): number
  /** The number of the record that a new file with this word has become. */
  made?(word: string): string | undefined
}

export interface Subjects {
  make(kind: SubjectKind): Subject
  /** Whether the report has this word in its fields. */
  hasReport(id: string, word: string): boolean
  /** A request with this word that changes something and was sent two times; undefined where each was sent once. */
  sentTwice(heard: readonly ReceivedRequest[], word: string): string | undefined
}

/** Looks into the database of the service, past every request. */
export function openSubjects(t: TestLifetime, { service, ...testbed }: Testbed): Subjects {
  const { seed } = service
  const store = openStore(service.database)
  t.teardown(() => store.close())
  let made = 0

  const rows = [
    { id: ids.transition, title: 'Transition state' },
    { id: ids.product, title: 'Water' },
    { id: ids.bare, title: 'Nothing' },
  ]
  const count = (sql: string, ...values: string[]): number =>
    store.first<{ found: number }>(`SELECT COUNT(*) AS found FROM ${sql}`, ...values)?.found ?? 0
  const inRecord = (table: string, id: string, word: string): boolean =>
    count(`${table} WHERE id = ? AND instr(record, ?)`, id, word) > 0
  const hasRow = (id: string, word: string): boolean =>
    count('report_row WHERE report = ? AND instr(title, ?)', id, word) > 0
  const listOf = (id: string): string =>
    store
      .all<{ id: string }>(
        'SELECT CAST(calculation AS TEXT) AS id FROM report_row WHERE report = ? ORDER BY place',
        id,
      )
      .map(row => row.id)
      .join(' ')
  const report = (): string =>
    seed.addReport({ name: `R${++made}`, title: 'Before', owner: 'demo', calculations: rows })
  const read = (path: string) => () => textOf(testbed, path)

  function onReport(kind: 'report' | 'rows' | 'order'): Subject {
    const id = report()
    const path = kind === 'order' ? `reports/${id}/order.txt` : `reports/${id}.json`
    const about = { kind, path, draft: kind === 'order' ? `${id}-order.txt` : `${id}.json`, read: read(path) }
    const isTurned = (word: string) => hasRow(id, word) && listOf(id) === orderAfter.join(' ')
    const copies = (word: string) =>
      Number(kind === 'report' ? inRecord('report', id, word) : hasRow(id, word))
    if (kind === 'report')
      return { ...about, copies, edited: withWord('title'), isStored: word => inRecord('report', id, word) }
    return { ...about, copies, edited: kind === 'rows' ? turnedRows : turnedLines, isStored: isTurned }
  }

  function onRecord(kind: 'project' | 'calculation'): Subject {
    const name = `${kind} ${++made}`
    const id =
      kind === 'project'
        ? seed.addProject({ name, owner: 'demo', parent: ids.water })
        : seed.addCalculation({ name, project: ids.empty })
    const path = `by-id/${kind}/${id}/.${kind}.json`
    const isStored = (word: string) => inRecord(kind, id, word)
    return {
      ...{ kind, path, draft: `${kind}-${id}.json`, read: read(path), isStored },
      edited: withWord('description'),
      copies: word => Number(isStored(word)),
    }
  }

  function newReport(): Subject {
    const name = `new-${++made}.json`
    const copies = (word: string) => count('report WHERE instr(record, ?)', word)
    return {
      kind: 'new report',
      path: `reports/${name}`,
      draft: name,
      read: async () => '',
      edited: (_, word) => `${JSON.stringify({ title: word, reportType: '1', calculations: [] })}\n`,
      isStored: word => copies(word) > 0,
      copies,
    }
  }

  function newList(): Subject {
    const made = (word: string) =>
      store.first<{ id: string }>('SELECT CAST(id AS TEXT) AS id FROM report WHERE instr(record, ?)', word)
        ?.id
    const titled = [
      { calcId: Number(ids.product), title: 'Water' },
      { calcId: Number(ids.bare), title: 'Nothing' },
    ]
    const about = { description: 'Made on the drive', reportType: '1', calculations: titled }
    return {
      ...newReport(),
      kind: 'new list',
      edited: (_, word) => JSON.stringify({ title: word, ...about }),
      isStored(word) {
        const id = made(word)
        if (id === undefined || !inRecord('report', id, about.description)) return false
        const isWhole = listOf(id) === titled.map(({ calcId }) => calcId).join(' ')
        return isWhole && titled.every(({ title }) => hasRow(id, title))
      },
      made,
    }
  }

  return {
    make(kind) {
      if (kind === 'new list') return newList()
      if (kind === 'new report') return newReport()
      return kind === 'project' || kind === 'calculation' ? onRecord(kind) : onReport(kind)
    },
    hasReport: (id, word) => inRecord('report', id, word),
    sentTwice(heard, word) {
      const sent = heard
        .filter(({ method, body }) => /^(PUT|POST)$/.test(method) && body.includes(word))
        .map(({ method, path, body }) => `${method} ${path} ${body}`)
      return sent.find((line, at) => sent.indexOf(line) !== at)
    },
  }
}

export const withWord =
  (field: string) =>
  (text: string, word: string): string =>
    prettyPrint(withField(parseObject(text), field, stringJson(word)))

const orderAfter: readonly string[] = [ids.bare, ids.product, ids.transition]
const placeAfter = (id: string): number => orderAfter.indexOf(id)

/** The rows the other way round, and the word as the title of what is first then. */
export function turnedRows(text: string, word: string): string {
  const record: JsonObject = parseObject(text)
  const list = fieldOf(record, 'calculations')
  const idIn = (item: Json) => (item.type === 'object' ? compactPrint(fieldOf(item, 'calcId') ?? item) : '')
  const items = list?.type === 'array' ? list.items : []
  const turned = items.toSorted((one, other) => placeAfter(idIn(one)) - placeAfter(idIn(other)))
  const titled = turned.map((item, at) =>
    at === 0 && item.type === 'object' ? withField(item, 'title', stringJson(word)) : item,
  )
  return prettyPrint(withField(record, 'calculations', { type: 'array', items: titled }))
}

function turnedLines(text: string, word: string): string {
  const [first = '', ...others] = text
    .trimEnd()
    .split('\n')
    .sort((one, other) => placeAfter(one.split('\t')[0] ?? '') - placeAfter(other.split('\t')[0] ?? ''))
  const [id = '', , path = ''] = first.split('\t')
  return `${[[id, word, path].join('\t'), ...others].join('\n')}\n`
}
