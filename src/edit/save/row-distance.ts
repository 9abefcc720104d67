// Row distance of two texts with the same number of differing fields: by the rows of the differing lists.

import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonArray, type JsonObject } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import { type Edits, removed } from './diff.js'

/** From 0 to below 1; 0 where no list differs, or one is so long that it stays its text. */
export function rowsApart(record: JsonObject, edits: Edits): number {
  let apart = 0
  for (const [name, edit] of edits) {
    const [before, after] = [fieldOf(record, name), edit === removed ? undefined : edit]
    if (isShortList(before) && isShortList(after)) apart += shareOfRows(before.items, after.items)
  }
  return apart / (edits.size + 1)
}

const isShortList = (json: Json | undefined): json is JsonArray =>
  json?.type === 'array' && json.each === undefined

/**
 * Which part of the longer list is rows that the shorter one does not have; rows that only stand elsewhere count less than
 * any of these. What both begin with and both end with is passed over.
 */
function shareOfRows(one: readonly Json[], other: readonly Json[]): number {
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)]
  let first = 0
  while (first < shorter && isSame(one[first], other[first])) first += 1
  let last = 0
  while (last < shorter - first && isSame(one.at(-1 - last), other.at(-1 - last))) last += 1
  const between = (rows: readonly Json[]) => rows.slice(first, rows.length - last).map(compactPrint)
  const left = new Map<string, number>()
  for (const row of between(one)) left.set(row, (left.get(row) ?? 0) + 1)
  const missing =
    between(other).filter(row => !taken(left, row)).length + Math.max(0, one.length - other.length)
  const moved = (longer - first - last) / (longer + 1)
  return (missing + moved) / (longer + 2)
}

/** Whether it was among them; it is taken out. */
function taken(rows: Map<string, number>, row: string): boolean {
  const count = rows.get(row) ?? 0
  if (count > 0) rows.set(row, count - 1)
  return count > 0
}

const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  one !== undefined && other !== undefined && equalJson(one, other)
