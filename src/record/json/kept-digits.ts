// Kept digits: a text from a program that rounds numbers gets the digits of its base back; all other differences stay.
import { Failure } from '../../failure.js'
import { hasSameTokens } from './equal.js'
import { eachItem, type Field, fieldOf, type Json, type JsonArray, type JsonObject } from './json.js'
import { matchItems } from './match-items.js'
import { isLong } from './parse.js'
import { decimalOf, hardnessOf, isBeyondDouble, isSameNumber } from './same-number.js'

export type KeptDigits = ReturnType<typeof withDigitsOf>

/** `idNames` are the fields that may hold the id of a row, the surest first. */
export function withDigitsOf(base: JsonObject, written: JsonObject, idNames: readonly string[]) {
  const keeping = new Keeping(base, written, idNames)
  const record = keeping.object(base, written)
  return { record, doubt: keeping.doubt }
}

/** @throws Failure 'refused' where it is in doubt */
export function clearly({ record, doubt }: KeptDigits): JsonObject {
  if (doubt === undefined) return record
  throw new Failure('refused', doubt)
}

class Keeping {
  /** In a sentence: a rounded number in a list that may stand for more than one of the base's. */
  doubt: string | undefined
  #hardest: number | undefined

  constructor(
    private readonly base: JsonObject,
    private readonly written: JsonObject,
    private readonly idNames: readonly string[],
  ) {}

  object(base: JsonObject, written: JsonObject): JsonObject {
    if (hasSameTokens(base, written)) return written
    let isChanged = false
    const fields: Field[] = []
    for (const [at, field] of written.fields.entries()) {
      const its = base.fields[at]
      const isSame = its?.rawName === field.rawName && hasSameTokens(its.value, field.value)
      const before = isSame ? undefined : fieldOf(base, field.name)
      const value = before === undefined ? field.value : this.#value(before, field.value)
      fields.push(value === field.value ? field : { ...field, value })
      isChanged ||= value !== field.value
    }
    return isChanged ? { type: 'object', fields } : written
  }

  #value(base: Json, written: Json): Json {
    if ('raw' in base && 'raw' in written && base.raw === written.raw) return written
    if (base.type === 'number') return this.#isSame(base.raw, written) ? base : written
    if (base.type === 'object' && written.type === 'object') return this.object(base, written)
    if (base.type === 'array' && written.type === 'array') return this.#list(base, written)
    return written
  }

  #isSame(base: string, written: Json): boolean {
    if (!('raw' in written) || written.raw === base) return 'raw' in written
    // Perl makes a text of an integer that its own are too small for, JavaScript null of a number too large for a double.
    if (written.type === 'string') return written.value === base && isBeyondDouble(base)
    if (written.type === 'word') return written.raw === 'null' && !Number.isFinite(Number(base))
    return this.#isSameNumber(base, written.raw)
  }

  readonly #isSameNumber = (base: string, written: string): boolean =>
    isSameNumber(base, written) && (decimalOf(base) === decimalOf(written) || hardnessOf(base) > this.#kept)

  /** The hardest of the numbers beyond a double that came back exactly: what is no harder means what it says. */
  get #kept(): number {
    if (this.#hardest === undefined) {
      const said = new Set([...numbersIn(this.written)].map(decimalOf))
      const exact = [...numbersIn(this.base)].filter(raw => said.has(decimalOf(raw)) && isBeyondDouble(raw))
      this.#hardest = exact.reduce((most, raw) => Math.max(most, hardnessOf(raw)), 0)
    }
    return this.#hardest
  }

  #list(base: JsonArray, written: JsonArray): JsonArray {
    if (hasSameTokens(base, written) || !(mayBeRounded(base) || mayBeRounded(written))) return written
    const [before, after] = [[...eachItem(base)], [...eachItem(written)]]
    const { places, doubt } = matchItems(before, after, {
      isSameNumber: this.#isSameNumber,
      idOf: item => this.#idOf(item),
    })
    this.doubt ??= doubt
    const items = after.map((item, at) => {
      const old = before[places[at] ?? -1]
      if (old === undefined) return item
      // A row may be written as its id alone.
      return this.#value((item.type === 'object' ? undefined : this.#idOf(old)) ?? old, item)
    })
    return items.every((item, at) => item === after[at]) ? written : { type: 'array', items }
  }

  #idOf(item: Json): Json | undefined {
    if (item.type !== 'object') return item.type === 'number' || item.type === 'string' ? item : undefined
    return this.idNames
      .map(name => fieldOf(item, name))
      .find(id => id?.type === 'number' || id?.type === 'string')
  }
}

/** Short integers are not rounded, and one that is written otherwise is another number. Of a long list no tree is made for that. */
function mayBeRounded(json: Json): boolean {
  if (isLong(json)) return /[0-9]{16}|[0-9](?:\.[0-9]|[eE])|-0/.test(json.text)
  if (json.type === 'number') return !/^(?:0|-?[1-9][0-9]{0,14})$/.test(json.raw)
  if (json.type === 'array') return json.items.some(mayBeRounded)
  return json.type === 'object' && json.fields.some(({ value }) => mayBeRounded(value))
}

function* numbersIn(json: Json): Generator<string> {
  if (json.type === 'number') yield json.raw
  else if (json.type === 'array') for (const item of eachItem(json)) yield* numbersIn(item)
  else if (json.type === 'object') for (const { value } of json.fields) yield* numbersIn(value)
}
