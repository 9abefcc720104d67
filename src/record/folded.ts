// A long object or list as its text: a part becomes a tree when it is looked at, and only for as long as that takes.
import type { Field, Json, JsonArray, JsonObject } from './json.js'

/** Makes a tree of an object or a list, save of the long ones in it. */
export interface Unfolding {
  fields(source: string): readonly Field[]
  items(source: string): readonly Json[]
}

/** An object that is held as its text, `source`, without white space around it. */
export class FoldedObject implements JsonObject {
  readonly type = 'object'
  #fields: WeakRef<readonly Field[]> | undefined

  constructor(
    readonly source: string,
    private readonly unfold: Unfolding['fields'],
  ) {}

  get fields(): readonly Field[] {
    const known = this.#fields?.deref()
    if (known !== undefined) return known
    const fields = this.unfold(this.source)
    this.#fields = new WeakRef(fields)
    return fields
  }
}

/** A list that is held as its text. */
export class FoldedArray implements JsonArray {
  readonly type = 'array'
  #items: WeakRef<readonly Json[]> | undefined

  constructor(
    readonly source: string,
    private readonly unfold: Unfolding['items'],
  ) {}

  get items(): readonly Json[] {
    const known = this.#items?.deref()
    if (known !== undefined) return known
    const items = this.unfold(this.source)
    this.#items = new WeakRef(items)
    return items
  }
}
