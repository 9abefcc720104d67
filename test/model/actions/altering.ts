// A user's change of a text: the record as it was read, with one value changed.
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
} from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { fresh, pick, placeOf, reachable, type Stage } from '../stage.js'
import type { Change } from '../steps.js'

const noSuchCalculation = '999999999'
const permissions = ['READ', 'WRITE', 'FULLACCESS'] as const

export function altered(stage: Stage, json: string, { change, by }: { change: Change; by: number }): string {
  const record = parseObject(json)
  const set = (name: string, value: Json): string => prettyPrint(withField(record, name, value))
  switch (change) {
    case 'description':
    case 'title':
    case 'name':
      return set(change, stringJson(fresh(stage, change)))
    case 'permission':
      return set('permission', stringJson(permissions[by % 3] ?? 'READ'))
    case 'bad permission':
      return set('permission', stringJson('ADMIN'))
    case 'bad type':
      return set('reportType', numberJson('77'))
    case 'no JSON':
      return `${json.slice(0, json.length / 2)} ${fresh(stage, '?')}`
    case 'spaces':
      return `${json.replace(/\n */g, ' ')}\n\n`
    case 'nothing':
      return json
    default: {
      const items = listAfter(stage, itemsIn(record), { change, by }, inRecord)
      return set('calculations', { type: 'array', items })
    }
  }
}

function itemsIn(record: JsonObject): readonly Json[] {
  const list = fieldOf(record, 'calculations')
  return list?.type === 'array' ? list.items : []
}

/** How a list has an entry. */
interface Form<Entry> {
  id(id: string): Entry
  path(path: string): Entry
  retitled(entry: Entry, title: string): Entry
}

const inRecord: Form<Json> = {
  id: numberJson,
  path: stringJson,
  retitled: (item, title) => (item.type === 'object' ? withField(item, 'title', stringJson(title)) : item),
}

const asLine: Form<string> = {
  id: id => id,
  path: path => path,
  retitled: (line, title) => [line.split('\t')[0], title, line.split('\t')[2] ?? ''].join('\t'),
}

function listAfter<Entry>(
  stage: Stage,
  entries: readonly Entry[],
  { change, by }: { change: Change | 'empty'; by: number },
  { id, path, retitled }: Form<Entry>,
): readonly Entry[] {
  const at = by % Math.max(1, entries.length)
  switch (change) {
    case 'reverse':
      return entries.toReversed()
    case 'drop':
      return entries.toSpliced(at, 1)
    case 'add':
      return entries.toSpliced(at, 0, id(newEntry(stage, by).id))
    case 'add by path':
      return entries.toSpliced(at, 0, path(newEntry(stage, by).path))
    case 'bad calculation':
      return entries.toSpliced(at, 0, id(noSuchCalculation))
    case 'twice the same':
      return entries.flatMap((entry, index) => (index === at ? [entry, entry] : [entry]))
    case 'retitle':
      return entries.map((entry, index) => (index === at ? retitled(entry, fresh(stage, 'Row')) : entry))
    default:
      return entries
  }
}

/** A calculation that a list may take, by its number and by its place on the drive. */
export function newEntry(stage: Stage, by: number): { id: string; path: string } {
  const calculation = pick(reachable(stage, 'calculation'), by)
  if (calculation === undefined) return { id: noSuchCalculation, path: '/nowhere/at all' }
  return { id: calculation.id, path: `/${placeOf(calculation)}` }
}

/** The lines of `order.txt` after the change. */
export function alteredOrder(
  stage: Stage,
  text: string,
  step: { change: Change | 'empty'; by: number },
): string {
  const lines = text.split('\n').filter(line => line !== '')
  const after = step.change === 'empty' ? [''] : listAfter(stage, lines, step, asLine)
  return after.map(line => `${line}\n`).join('')
}
