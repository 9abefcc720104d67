// Packed children of a listing: the fields of some hundred children in columns, a child is a row.
import type { CompressedBatch } from './compressed-batch.js'

/** What a listing says of a child; times and parents are whatever kinds of number and text the caller has. */
export interface ChildFacts<Time extends number, Parent extends string> {
  readonly kind: 'project' | 'calculation'
  readonly id: string
  readonly title: string
  readonly since: Time | undefined
  readonly born: Time | undefined
  readonly published: boolean
  readonly bundle: CompressedBatch | undefined
  readonly place: number
  readonly parent: Parent | undefined
}

export interface ChildPacker<Time extends number, Parent extends string> {
  /** The same child, held small once its stretch is full. */
  add(child: ChildFacts<Time, Parent>): ChildFacts<Time, Parent>
  /** No more will come. */
  close(): void
}

/** So many children have their columns together. */
const stretchSize = 512

/** Takes the children of one listing, in order. */
export function openChildPacker<Time extends number, Parent extends string>(): ChildPacker<Time, Parent> {
  let open: Stretch<Time, Parent> | undefined
  return {
    add(child) {
      open ??= new Stretch()
      const row = open.add(child)
      const packed = new PackedChild(open, row)
      if (row === stretchSize - 1) {
        open.seal()
        open = undefined
      }
      return packed
    },
    close() {
      open?.seal()
      open = undefined
    },
  }
}

/** Of each fact, what the child of a row says. */
type Columns<Child> = { readonly [Fact in keyof Child]: (row: number) => Child[Fact] }

class Stretch<Time extends number, Parent extends string> {
  #rows: ChildFacts<Time, Parent>[] = []
  #columns: Columns<ChildFacts<Time, Parent>> | undefined

  add(child: ChildFacts<Time, Parent>): number {
    return this.#rows.push(child) - 1
  }

  seal(): void {
    const rows = this.#rows
    this.#columns = {
      kind: column(rows.map(({ kind }) => kind)),
      id: idColumn(rows.map(({ id }) => id)),
      title: column(rows.map(({ title }) => title)),
      since: timeColumn(rows.map(({ since }) => since)),
      born: timeColumn(rows.map(({ born }) => born)),
      published: column(rows.map(({ published }) => published)),
      bundle: column(rows.map(({ bundle }) => bundle)),
      place: placeColumn(rows.map(({ place }) => place)),
      parent: column(rows.map(({ parent }) => parent)),
    }
    this.#rows = []
  }

  fact<Fact extends keyof ChildFacts<Time, Parent>>(fact: Fact, row: number): ChildFacts<Time, Parent>[Fact] {
    if (this.#columns !== undefined) return this.#columns[fact](row)
    const child = this.#rows[row]
    if (child === undefined) throw new RangeError(`a stretch has no row ${row}`)
    return child[fact]
  }
}

/** Its facts are no fields of its own: `{ ...child }` and JSON have none of them. */
class PackedChild<Time extends number, Parent extends string> implements ChildFacts<Time, Parent> {
  readonly #stretch: Stretch<Time, Parent>
  readonly #row: number

  constructor(stretch: Stretch<Time, Parent>, row: number) {
    this.#stretch = stretch
    this.#row = row
  }

  get kind() {
    return this.#stretch.fact('kind', this.#row)
  }
  get id() {
    return this.#stretch.fact('id', this.#row)
  }
  get title() {
    return this.#stretch.fact('title', this.#row)
  }
  get since() {
    return this.#stretch.fact('since', this.#row)
  }
  get born() {
    return this.#stretch.fact('born', this.#row)
  }
  get published() {
    return this.#stretch.fact('published', this.#row)
  }
  get bundle() {
    return this.#stretch.fact('bundle', this.#row)
  }
  get place() {
    return this.#stretch.fact('place', this.#row)
  }
  get parent() {
    return this.#stretch.fact('parent', this.#row)
  }
}

/** The same child under another title. */
export function retitledChild<Time extends number, Parent extends string>(
  { kind, id, since, born, published, bundle, place, parent }: ChildFacts<Time, Parent>,
  title: string,
): ChildFacts<Time, Parent> {
  return { kind, id, title, since, born, published, bundle, place, parent }
}

/** One value where all rows say the same. */
function column<Value>(values: readonly Value[]): (row: number) => Value {
  const [first] = values
  if (
    first === undefined ? values.every(value => value === undefined) : values.every(value => value === first)
  )
    return () => first as Value
  return row => values[row] as Value
}

/** Ids as numbers of 64 bits, where the digits of each come back as they were. */
function idColumn(ids: readonly string[]): (row: number) => string {
  if (!ids.every(id => /^\d{1,19}$/.test(id))) return column(ids)
  const numbers = BigInt64Array.from(ids, BigInt)
  return ids.every((id, row) => String(numbers[row]) === id) ? row => String(numbers[row]) : column(ids)
}

function timeColumn<Time extends number>(
  times: readonly (Time | undefined)[],
): (row: number) => Time | undefined {
  if (times.every(time => time === undefined)) return () => undefined
  const numbers = Float64Array.from(times, time => time ?? Number.NaN)
  return row => {
    const time = numbers[row]
    // A number of the caller's kind, for that is what was put in.
    return time === undefined || Number.isNaN(time) ? undefined : (time as Time)
  }
}

function placeColumn(places: readonly number[]): (row: number) => number {
  if (places.every((place, row) => place === row)) return row => row
  const numbers = Uint32Array.from(places)
  return row => numbers[row] ?? 0
}
