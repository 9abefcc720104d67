// The burst: what programs remove without a pause is hidden at once, and goes or comes back as a whole when it ends.
import { asFailure, Failure } from '../../failure.js'
import { fixedNames, parentOf } from '../../layout.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Clock } from '../../remote/clock.js'
import type { CalculationId, FileTitle, Instant } from '../../remote/remote.js'
import { type CalculationNode, type Node, nodeKey, type ProjectNode, type RecordNode } from '../nodes/node.js'
import { awayMs } from '../records/open-record.js'

/** A report, a share, or a calculation whose folder was removed. */
export type Deletable = Extract<RecordNode, { of: 'report' | 'share' }> | CalculationNode
/** The same, or an empty project. */
export type DeleteTarget = Deletable | ProjectNode

export interface Sight {
  readonly title?: string | undefined
  readonly record?: JsonObject | undefined
  readonly files?: readonly FileTitle[] | undefined
}

export interface RemovedThing {
  readonly node: Deletable
  /** The key of the directory in which it lay. */
  readonly parent: string
  readonly name: string
  /** Only its text that is not saved: that is given up, and the report is there again without it. */
  readonly isUnsaved?: boolean | undefined
  /** The words of its program for it: for messages alone. */
  readonly path: string
  readonly before: Sight
}

export interface WaitingRemoval extends RemovedThing {
  readonly since: Instant
  readonly isSent: boolean
}

export interface BurstPorts {
  readonly maxDeletes: number
  readonly clock: Clock
  readonly send: (thing: RemovedThing) => Promise<void>
  /** Something is hidden, or no longer, at every path that leads to it. */
  readonly changed: () => void
  readonly back: (node: Deletable) => void
  readonly gone: (thing: RemovedThing) => void
  /** Takes why something is there again: 'deleting' where its user wanted that, and 'removing' is told by status. */
  readonly failed: (verb: 'removing' | 'deleting', path: string, failure: Failure) => void
}

/** Milliseconds without a removal that end a burst: for as long an editor may create again what it took away. */
export const pauseMs = awayMs
/** Milliseconds after the last removal for which calls that wait hold the end up: other readers must not do so for ever. */
const patienceMs = 60_000
/** Milliseconds until it is looked again whether a call still waits. */
const shortlyMs = 200
const toldAtMost = 20

const onlyWhole = 'the service deletes a calculation as a whole only (rm -r CALCULATION)'

export class Burst {
  readonly #things = new Map<string, WaitingRemoval>()
  /** Names that were unlinked in calculations, with their paths for messages. */
  readonly #entries = new Map<CalculationId, Map<string, string>>()
  /** All that counts for the limit: empty projects, too, which do not wait. */
  readonly #counted = new Set<string>()
  readonly #sending = new Map<string, { readonly thing: WaitingRemoval; readonly ended: Promise<void> }>()
  #spoiled: string | undefined
  /** When something was removed last; undefined while no burst is under way. */
  #removed: Instant | undefined
  /** Milliseconds of the pause so far, without the calls that wait now or did. */
  #idle = 0
  #idleSince: Instant
  #waiting = 0
  #endTimer: (() => void) | undefined
  readonly #atEnd: (() => void)[] = []
  #isClosed = false

  constructor(private readonly ports: BurstPorts) {
    this.#idleSince = ports.clock.now()
  }

  // The removal itself.

  /** A removal is tried. @throws Failure 'not-permitted' where the rest of this burst is refused */
  attempt(path: string): void {
    this.#goOn()
    if (this.#spoiled !== undefined) throw notDeleted(path, this.#spoiled)
  }

  /** More is meant than may be deleted here: all of the burst comes back, and its rest is refused. */
  spoil(path: string, why: string): never {
    this.#goOn()
    this.#spoiled ??= why
    this.#comeBack('removing', this.#spoiled)
    const refusal = notDeleted(path, this.#spoiled)
    this.ports.failed('deleting', parentOf(path), refusal)
    throw refusal
  }

  /** @throws Failure 'not-permitted' where the burst has no room for one more */
  count(key: string, path: string): void {
    this.attempt(path)
    this.#counted.add(key)
    if (this.#counted.size > this.ports.maxDeletes)
      this.spoil(path, `more than ${this.ports.maxDeletes} were removed at once (--max-deletes)`)
  }

  uncount(key: string): void {
    this.#counted.delete(key)
  }

  /** @throws Failure 'not-permitted' where the rest of this burst is refused */
  unlink(calculation: CalculationId, name: string, path: string): void {
    this.attempt(path)
    this.#entries.set(calculation, (this.#entries.get(calculation) ?? new Map()).set(name, path))
  }

  /** @throws Failure 'not-permitted' where the burst has no room for one more */
  remove(thing: RemovedThing): void {
    const key = nodeKey(thing.node)
    if (this.has(key)) return
    this.count(key, thing.path)
    this.#things.set(key, { ...thing, since: this.ports.clock.now(), isSent: false })
    this.ports.changed()
  }

  // The view of it.

  has(key: string): boolean {
    return this.#things.has(key) || this.#sending.has(key)
  }

  /** True if a node is hidden under this name: it was removed, or lies in a calculation that was. */
  hides(node: Node, name: string): boolean {
    if (!this.isUnderWay) return false
    this.#endIfOver()
    const calculation = calculationOf(node)
    if (calculation === undefined) return this.has(nodeKey(node))
    return this.has(keyOf(calculation)) || this.#entries.get(calculation)?.has(name) === true
  }

  get isUnderWay(): boolean {
    return this.#things.size + this.#entries.size + this.#sending.size > 0
  }

  waiting(): readonly WaitingRemoval[] {
    return [...this.#things.values(), ...[...this.#sending.values()].map(({ thing }) => thing)]
  }

  /** The paths of files that were unlinked in folders that stay so far. */
  unlinked(): readonly string[] {
    const left = [...this.#entries].filter(([id]) => !this.has(keyOf(id)))
    return left.flatMap(([, names]) => [...names.values()])
  }

  // The ways to call it off.

  /** All of the burst comes back where this is part of it, or the directory of a part. */
  touch(node: Node, name: string, path: string): boolean {
    const key = nodeKey(node)
    const isFolder = node.kind === 'calculation' && this.#entries.has(node.id)
    const isParent = [...this.#things.values()].some(({ parent }) => parent === key)
    const isEntry = node.kind === 'content' && this.hides(node, name)
    if (!isFolder && !isParent && !isEntry && !this.#things.has(key)) return false
    this.#comeBack('deleting', `${path} was touched`)
    return true
  }

  /** A program makes its file again, by `touch` or to save it, which look the same: all of the burst comes back. */
  async recreated(node: RecordNode): Promise<void> {
    const thing = this.#things.get(nodeKey(node))
    if (thing !== undefined && this.#things.size + this.#entries.size > 1)
      this.#comeBack('deleting', `${thing.path} was made again`)
    await this.release(node)
  }

  /** It alone is no part of the burst any more. A DELETE that is on its way is waited for. */
  async release(node: RecordNode | CalculationNode): Promise<void> {
    const key = nodeKey(node)
    if (node.kind === 'record' && node.of === 'calculation')
      this.#entries.get(node.id)?.delete(fixedNames.calculation)
    const thing = this.#things.get(key)
    if (thing === undefined) return this.#sending.get(key)?.ended
    this.#counted.delete(key)
    this.#things.delete(key)
    this.ports.back(thing.node)
    this.ports.changed()
  }

  /** Once it is deleted, or stays. @throws Failure 'timeout' where the drive ends first */
  async settled(key: string): Promise<void> {
    if (this.#things.has(key) && !this.#isClosed) await new Promise<void>(over => this.#atEnd.push(over))
    const thing = this.#things.get(key)
    if (thing !== undefined) throw new Failure('timeout', `${thing.path} is not deleted: the drive ends`)
    await this.#sending.get(key)?.ended
  }

  /** From now on nothing that waits is deleted, whatever programs ask: the unmount has begun. */
  stop(): void {
    this.#isClosed = true
    this.#endTimer?.()
    this.#tellEnd()
  }

  /** Once no DELETE is on its way; the answer is what was not deleted. */
  async close(): Promise<readonly RemovedThing[]> {
    this.stop()
    await Promise.all([...this.#sending.values()].map(({ ended }) => ended))
    return [...this.#things.values()]
  }

  // When it ends.

  /** Time in which a call waits for the service is no pause: the next removal may come after it. */
  async during<Answer>(call: Promise<Answer>): Promise<Answer> {
    if (this.#waiting === 0) this.#idle += this.ports.clock.now() - this.#idleSince
    this.#waiting += 1
    try {
      return await call
    } finally {
      this.#waiting -= 1
      this.#idleSince = this.ports.clock.now()
    }
  }

  #left(): number {
    const now = this.ports.clock.now()
    const idle = this.#idle + (this.#waiting > 0 ? 0 : now - this.#idleSince)
    return Math.min(pauseMs - idle, patienceMs - (now - (this.#removed ?? now)))
  }

  #goOn(): void {
    this.#endIfOver()
    const now = this.ports.clock.now()
    this.#removed = now
    this.#idleSince = now
    this.#idle = 0
    if (this.#endTimer === undefined && !this.#isClosed) this.#waitForEnd()
  }

  #waitForEnd(): void {
    const check = (): void => {
      this.#endTimer = undefined
      this.#endIfOver()
      if (this.#removed !== undefined) this.#waitForEnd()
    }
    this.#endTimer = this.ports.clock.after(Math.max(this.#left(), shortlyMs) + 1, check, 'in-background')
  }

  /** Also where its timer is late, on a busy machine. */
  #endIfOver(): void {
    if (this.#isClosed || this.#removed === undefined || this.#left() > 0) return
    this.#removed = undefined
    this.#spoiled = undefined
    this.#counted.clear()
    const things = [...this.#things.values()]
    this.#things.clear()
    // A report loses a row with its calculation, which would read as a change by another client.
    const records = things.filter(({ node }) => node.kind === 'record').map(thing => this.#send(thing))
    const ended = Promise.all(records)
    for (const thing of things) if (thing.node.kind === 'calculation') void this.#send(thing, ended)
    this.#entriesBack(onlyWhole)
    this.#tellEnd()
  }

  #send(waiting: WaitingRemoval, before: Promise<unknown> = Promise.resolve()): Promise<void> {
    const thing = { ...waiting, isSent: true }
    const key = nodeKey(thing.node)
    const deleted = (): void => this.ports.gone(thing)
    const refused = (thrown: unknown): void => {
      this.ports.back(thing.node)
      this.ports.failed('removing', thing.path, asFailure(thrown))
    }
    const ended = before
      .then(() => this.ports.send(thing))
      .then(deleted, refused)
      .finally(() => {
        this.#sending.delete(key)
        this.ports.changed()
      })
    this.#sending.set(key, { thing, ended })
    return ended
  }

  #comeBack(verb: 'removing' | 'deleting', why: string): void {
    const because = new Failure('not-permitted', `it was not deleted, and is as it was: ${why}`)
    const things = [...this.#things]
    this.#things.clear()
    for (const [key, thing] of things) {
      this.#counted.delete(key)
      this.ports.back(thing.node)
      this.ports.failed(verb, thing.path, because)
      if (thing.node.kind === 'calculation') this.#entries.delete(thing.node.id)
    }
    this.#entriesBack(why)
    if (things.length > 0) this.ports.changed()
    this.#tellEnd()
  }

  /** Files whose folder was not removed with them. */
  #entriesBack(why: string): void {
    const because = new Failure('not-permitted', `unlinked here, but not deleted: ${why}`)
    const left = [...this.#entries].filter(([id]) => !this.has(keyOf(id)))
    this.#entries.clear()
    for (const [id, names] of left) {
      this.ports.back({ kind: 'calculation', id, title: '' })
      const paths = [...names.values()].slice(0, toldAtMost)
      for (const path of new Set([...paths.map(parentOf), ...paths]))
        this.ports.failed('removing', path, because)
    }
    if (left.length > 0) this.ports.changed()
  }

  #tellEnd(): void {
    for (const tell of this.#atEnd.splice(0)) tell()
  }
}

const keyOf = (id: CalculationId): string => nodeKey({ kind: 'calculation', id, title: '' })

function calculationOf(node: Node): CalculationId | undefined {
  if (node.kind === 'content') return node.content.calculation
  return node.kind === 'record' && node.of === 'calculation' ? node.id : undefined
}

const notDeleted = (path: string, why: string): Failure =>
  new Failure(
    'not-permitted',
    `${path} is not deleted: ${why}; three seconds from now remove what is meant by itself (rm -r CALCULATION, rm REPORT, rmdir of an empty project), or use calcfs delete PATH…`,
  )
