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
    default:
      return set('calculations', { type: 'array', items: listAfter(stage, itemsIn(record), { change, by }) })
  }
}

function itemsIn(record: JsonObject): readonly Json[] {
  const list = fieldOf(record, 'calculations')
  return list?.type === 'array' ? list.items : []
}

function listAfter(
  stage: Stage,
  items: readonly Json[],
  { change, by }: { change: Change; by: number },
): readonly Json[] {
  const at = by % Math.max(1, items.length)
  switch (change) {
    case 'reverse':
      return items.toReversed()
    case 'drop':
      return items.toSpliced(at, 1)
    case 'add':
      return items.toSpliced(at, 0, numberJson(newEntry(stage, by).id))
    case 'add by path':
      return items.toSpliced(at, 0, stringJson(newEntry(stage, by).path))
    case 'bad calculation':
      return items.toSpliced(at, 0, numberJson(noSuchCalculation))
    case 'twice the same':
      return items.flatMap((item, index) => (index === at ? [item, item] : [item]))
    case 'retitle':
      return items.map((item, index) =>
        index === at && item.type === 'object'
          ? withField(item, 'title', stringJson(fresh(stage, 'Row')))
          : item,
      )
    default:
      throw new Error(`${change} is no change of a list`)
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
  { change, by }: { change: Change | 'empty'; by: number },
): string {
  const lines = text.split('\n').filter(line => line !== '')
  const at = by % Math.max(1, lines.length)
  const printed = (changed: readonly string[]) => changed.map(line => `${line}\n`).join('')
  switch (change) {
    case 'reverse':
      return printed(lines.toReversed())
    case 'drop':
      return printed(lines.toSpliced(at, 1))
    case 'add':
      return printed(lines.toSpliced(at, 0, newEntry(stage, by).id))
    case 'add by path':
      return printed(lines.toSpliced(at, 0, newEntry(stage, by).path))
    case 'bad calculation':
      return printed(lines.toSpliced(at, 0, noSuchCalculation))
    case 'retitle':
      return printed(
        lines.map((line, index) => {
          const [id = '', , path = ''] = line.split('\t')
          return index === at ? [id, fresh(stage, 'Row'), path].join('\t') : line
        }),
      )
    case 'empty':
      return '\n'
    default:
      return text
  }
}
