// Folded JSON: a long object or list as its text; a part becomes a tree only while it is used.
import { type FieldTable, fieldTable } from './field-table.js'
import type { Field, Json, JsonArray, JsonObject } from './json.js'

/** Makes trees of parts of a text that is JSON, save of the long objects and lists in it. */
export interface Unfolding {
  /** The value that begins here. */
  value(source: Buffer, start: number): Json
  items(source: Buffer): Iterable<Json>
}

/** An object that is held as its text in UTF-8. */
export class FoldedObject implements JsonObject {
  readonly type = 'object'
  #source: Buffer
  #isPrinted = false
  #fields: WeakRef<readonly Field[]> | undefined
  #table: WeakRef<FieldTable> | undefined

  /** @param source without white space before it */
  constructor(
    source: Buffer,
    private readonly unfold: Unfolding,
  ) {
    this.#source = source
  }

  /** The same tokens, with whatever white space. */
  get source(): Buffer {
    return this.#source
  }

  /** The text as `print` makes it, which is from now on the one that is held: two would take twice the memory. */
  printed(print: (source: Buffer) => Buffer): Buffer {
    if (!this.#isPrinted) {
      this.#source = print(this.#source)
      this.#isPrinted = true
      this.#table = undefined
    }
    return this.#source
  }

  get fields(): readonly Field[] {
    const known = this.#fields?.deref()
    if (known !== undefined) return known
    const table = this.#places()
    const fields = Array.from({ length: table.count }, (_, place) => this.#field(table, place))
    this.#fields = new WeakRef(fields)
    return fields
  }

  named(name: string): readonly Field[] {
    const table = this.#places()
    const known = this.#fields?.deref()
    return table.find(name).map(place => known?.[place] ?? this.#field(table, place))
  }

  lists(): readonly Field[] {
    const table = this.#places()
    return table.lists().map(place => this.#field(table, place))
  }

  #places(): FieldTable {
    const known = this.#table?.deref()
    if (known !== undefined) return known
    const table = fieldTable(this.#source)
    this.#table = new WeakRef(table)
    return table
  }

  #field(table: FieldTable, place: number): Field {
    const { name, rawName, valueStart } = table.at(place)
    return { name, rawName, value: this.unfold.value(this.#source, valueStart) }
  }
}

/** A list that is held as its text. */
export class FoldedArray implements JsonArray {
  readonly type = 'array'
  #items: WeakRef<readonly Json[]> | undefined

  constructor(
    readonly source: Buffer,
    private readonly unfold: Unfolding,
  ) {}

  get items(): readonly Json[] {
    const known = this.#items?.deref()
    if (known !== undefined) return known
    const items = [...this.unfold.items(this.source)]
    this.#items = new WeakRef(items)
    return items
  }

  each(): Iterable<Json> {
    return this.#items?.deref() ?? this.unfold.items(this.source)
  }
}
