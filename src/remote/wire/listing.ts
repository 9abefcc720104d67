// Parses answers, whole and as lists: malformed items of a list are left out and reported, and one bad item hides no other.
import { Failure } from '../../failure.js'
import { itemReader, type TextReader } from '../../record/json/items.js'
import { fieldOf, type Json, type JsonObject } from '../../record/json/json.js'
import { parseJson } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import { isTooDeep } from '../../record/json/walk.js'
import { redactSecrets } from '../secrets.js'

/** Called for each item that was left out, with compact JSON of at most 300 characters. */
export type Malformed = (item: string) => void

/** Parses a list of any length as it arrives, each id once; `done` is called after the last item. */
export function listingReader<Item extends { readonly id: string }>(
  read: Read<Item>,
  malformed: Malformed,
  done?: () => void,
): TextReader<Item[]> {
  const items: Item[] = []
  let held = 0
  let unread: string | undefined

  function take(text: string): void {
    held += itemBytes + text.length / packedTo
    const json = unlessTooDeep(text)
    const item = json?.type === 'object' ? read(json) : undefined
    if (item !== undefined) items.push(item)
    else {
      const printed = json === undefined ? text : compactPrint(json)
      if (printed !== 'null') unread = printed
      malformed(printed.slice(0, 300))
    }
  }

  const reader = itemReader(take, {
    wrong: noList,
    done() {
      done?.()
      // Shown as empty, it would hide all that it tells.
      if (items.length === 0 && unread !== undefined) throw noItem(unread)
      return eachOnce(items)
    },
  })
  return {
    ...reader,
    get held() {
      return held
    },
  }
}

/** The same of a list that is there as a whole. @throws Failure if it is no list at all */
export function listed<Item extends { readonly id: string }>(
  text: string,
  read: Read<Item>,
  malformed: Malformed,
): readonly Item[] {
  const reader = listingReader(read, malformed)
  reader.take(text)
  return reader.end()
}

/** Memory of an item with its name and its entry in the directory; its text is held compressed. */
const itemBytes = 220
const packedTo = 4

/** Checked after the last item: a second one of an id is left out. */
function eachOnce<Item extends { readonly id: string }>(items: Item[]): Item[] {
  const ids = new Set(items.map(({ id }) => id))
  return ids.size === items.length ? items : items.filter(({ id }) => ids.delete(id))
}

/** Such an item is lost alone: its brackets mark its end. */
function unlessTooDeep(text: string): Json | undefined {
  try {
    return parseAnswer(text)
  } catch (thrown) {
    if (isTooDeep(thrown)) return undefined
    throw thrown
  }
}

type Read<Item> = (item: JsonObject) => Item | undefined

/** Counts the items of a list, malformed ones included. */
export function lengthReader(): TextReader<number> {
  let length = 0
  const count = (): void => {
    length += 1
  }
  return itemReader(count, { wrong: noList, done: () => length })
}

/** Of JSON texts, of objects with one of these fields, or of `[a.in, output.cml]` without quotes. @throws Failure 'broken' if it is no list at all */
export function fileNamesIn(
  text: string,
  fields: readonly string[],
  malformed: Malformed,
): readonly string[] {
  const items = jsonItems(text) ?? unquotedItems(text)
  if (items === undefined) throw noList(text)
  const names = items.flatMap(item => {
    const name = fileNameIn(item, fields)
    if (name === undefined) malformed(compactPrint(item).slice(0, 300))
    return name ?? []
  })
  if (names.length === 0 && items.some(isSomething)) throw noItem(text)
  return [...new Set(names)]
}

function fileNameIn(item: Json, fields: readonly string[]): string | undefined {
  if (item.type === 'string') return item.value === '' ? undefined : item.value
  if (item.type === 'number') return item.raw
  if (item.type !== 'object') return undefined
  for (const field of fields) {
    const value = fieldOf(item, field)
    if (value?.type === 'string' || value?.type === 'number') return fileNameIn(value, fields)
  }
  return undefined
}

/** Undefined where the text is no JSON, for then it may be the unquoted form. */
function jsonItems(text: string): readonly Json[] | undefined {
  try {
    const json = parseJson(text)
    return json.type === 'array' ? json.items : undefined
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'not-json') return undefined
    throw failure
  }
}

function unquotedItems(text: string): readonly Json[] | undefined {
  const inner = /^\s*\[([^{}]*)\]\s*$/s.exec(text)?.[1]
  return inner?.split(',').map(part => {
    const value = part.trim().replace(/^(["'])(.*)\1$/s, '$2')
    return { type: 'string', value, raw: JSON.stringify(value) }
  })
}

/** `[ ]` without quotes reads as one blank name, and null is nothing in any list. */
const isSomething = (item: Json): boolean => !['""', 'null'].includes(compactPrint(item))

const noItem = (text: string): Failure => malformedAnswer('a list of things with ids or names is due', text)
const noList = (text: string): Failure => malformedAnswer('a list is due', text)

export const parseAnswer = (text: string): Json => parsedBy(parseJson, text)

export function parsedBy(parse: (text: string) => Json, text: string): Json {
  try {
    return parse(text)
  } catch (cause) {
    const said = answerExcerpt(text)
    throw new Failure('broken', 'the service answered with something other than JSON', { cause, said })
  }
}

export const malformedAnswer = (due: string, text: string): Failure =>
  new Failure('broken', `${due}, and the service answered with something else`, { said: answerExcerpt(text) })

/** Shown in messages about an invalid answer. */
const answerExcerpt = (text: string): string => redactSecrets(text.slice(0, 300), [])
