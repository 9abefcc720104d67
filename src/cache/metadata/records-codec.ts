// Codec of a short list of things with their records: no token of a record changes.
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'

/** A list of things with their records, as a text. */
export const encodeRecords = (items: readonly { readonly record: JsonObject }[]): string =>
  JSON.stringify(items.map(item => ({ ...item, record: compactPrint(item.record) })))

/** The things from such a text. @throws Failure or SyntaxError for another */
export const decodeRecords = <Item extends { readonly record: JsonObject }>(text: string): Item[] =>
  (JSON.parse(text) as (Item & { record: string })[]).map(item => ({
    ...item,
    record: parseObject(item.record),
  }))
