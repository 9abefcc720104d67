// Subtree: all that lies below a node, as it is known, or as the service has it for a pin; what cannot be had is named, and the rest goes on.
import pLimit, { type LimitFunction } from 'p-limit'
import type { Identities } from '../../cache/identity.js'
import type { Catalog, Entry } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Clock, dueIn } from '../../remote/clock.js'
import type { CalculationId, Content, ProjectId, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { TreeProblem } from '../interface/reader.js'
import {
  type CalculationNode,
  type Dentry,
  type DirectoryNode,
  type Node,
  nodeKey,
  type ProjectNode,
  thingOf,
} from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'

export type PinTarget = Extract<Node, { kind: 'top' | 'project' | 'calculation' | 'report' | 'content' }>

export interface PlacedNode<Of extends Node = Node> {
  readonly path: string
  readonly node: Of
}

export interface PlacedContent {
  readonly path: string
  readonly content: Content
}

/** Parts of one whole, so that all pins get their turns. */
const sideBySide = 16

/** The work on the parts of one whole, so many side by side. A part that cannot be had is named, and the rest goes on. */
export class Gathering {
  readonly missing: TreeProblem[] = []
  readonly #turns = pLimit(sideBySide)
  #isOver = false

  /** @param isOfAll true for a failure that says nothing about the one part that was asked for */
  constructor(private readonly isOfAll: (failure: Failure) => boolean) {}

  /** Undefined for a part that cannot be had; what is gone is none. @throws the first Failure that ends the work on all */
  part<Found>(path: string, work: () => MaybePromise<Found>): Promise<Found | undefined> {
    return this.#turns(async () => {
      if (this.#isOver) return undefined
      try {
        return await work()
      } catch (thrown) {
        const failure = asFailure(thrown)
        this.#isOver ||= this.isOfAll(failure)
        if (this.isOfAll(failure)) throw failure
        if (!isAbsent(failure)) this.missing.push({ path, failure })
        return undefined
      }
    })
  }
}

/** A failure that says nothing about the one thing that was asked for. */
const isOfAll = (failure: Failure): boolean => isA('outage', failure) || failure.kind === 'internal'

function unlessOfAll(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (isOfAll(failure)) throw failure
}

/** The entries of a project, a calculation or `projects/`; those of a report are its calculations. */
type ListEntries = (directory: WalkedNode) => MaybePromise<readonly Dentry[]>

/** Everything below the node, itself included. A project that is listed below itself is looked at once. @throws Failure of an outage, or of the node itself */
async function subtreeOf(from: PlacedNode, list: ListEntries) {
  const gathering = new Gathering(isOfAll)
  const contents: PlacedContent[] = []
  /** The keys of its projects, calculations and reports. */
  const things = new Set<string>()

  async function visit({ path, node }: PlacedNode): Promise<void> {
    if (node.kind === 'content') contents.push({ path, content: node.content })
    if (!isWalked(node)) return
    // Several paths lead to one thing where a project is listed below itself, or a report lists a calculation twice.
    if (things.has(nodeKey(node))) return
    if (node.kind !== 'top') things.add(nodeKey(node))
    const entries = await (node === from.node ? list(node) : gathering.part(path, () => list(node)))
    const inner = entries?.map(entry => visit({ path: `${path}/${entry.name}`, node: entry.node }))
    await Promise.all(inner ?? [])
  }

  await visit(from)
  return { contents, things, missing: gathering.missing }
}

type WalkedNode = ProjectNode | CalculationNode | Extract<DirectoryNode, { kind: 'top' | 'report' }>

export const isWalked = (node: Node): node is WalkedNode =>
  node.kind === 'project' || node.kind === 'calculation' || node.kind === 'top' || node.kind === 'report'

export interface KnownParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: Identities
}

/** `unlisted` are directories of which nothing was told, so that more may lie in them. */
export async function knownSubtree(from: PlacedNode, parts: KnownParts) {
  let unlisted = 0
  const found = await subtreeOf(from, directory => {
    const known = knownEntries(directory, parts)
    if (known === undefined) unlisted += 1
    return known ?? []
  })
  return { ...found, unlisted }
}

function knownEntries(directory: WalkedNode, parts: KnownParts): readonly Dentry[] | undefined {
  if (directory.kind !== 'report') return parts.tree.listKnown(directory)
  const record = parts.catalog.record({ kind: 'report', id: directory.id }).known()
  return record && calculationsIn(record, parts)
}

/** The calculations of a report, as far as they are known. */
function calculationsIn(report: JsonObject, parts: KnownParts): readonly Dentry[] {
  return (parts.dialect.lists.rows(report) ?? []).flatMap(({ calculation }, at): Dentry[] => {
    const node = knownCalculation(calculation, parts)
    return node === undefined ? [] : [{ name: `${at + 1}-${node.title}`, node }]
  })
}

function knownCalculation(id: CalculationId, parts: KnownParts): CalculationNode | undefined {
  const record = parts.catalog.record({ kind: 'calculation', id }).known()
  return record === undefined ? listedCalculation(id, parts) : calculationOf(id, record, parts)
}

/**
 * The node that its project lists, if that is known. Fields that no answer gave would contradict what is known of its
 * identity, and what was downloaded of it would count as another thing's.
 */
function listedCalculation(
  id: CalculationId,
  { catalog, identities }: KnownParts,
): CalculationNode | undefined {
  const parent = identities.known({ kind: 'calculation', id })?.parent
  const siblings = parent === undefined ? undefined : catalog.children(parent as ProjectId).known()
  return siblings?.calculations.find(one => one.id === id)
}

function calculationOf(id: CalculationId, record: JsonObject, parts: KnownParts): CalculationNode {
  const { born, title = '' } = parts.dialect.facts(record)
  return listedCalculation(id, parts) ?? { kind: 'calculation', id, title, born }
}

export interface PinSurveyParts extends KnownParts {
  /** Requests of all pins together. */
  readonly limit: LimitFunction
  readonly clock: Clock
  readonly patience: number
}

/** Looks what belongs to a pin now, asked of the service as far as it is not known or may be old. */
export class PinSurvey {
  constructor(private readonly parts: PinSurveyParts) {}

  /** The members of a pin, and the projects that lead to them. @throws Failure of an outage, or of the pinned thing itself */
  async look({ path, target }: { readonly path: string; readonly target: PinTarget }) {
    const found = await subtreeOf({ path, node: await this.#nodeOf(target) }, node => this.#list(node))
    const above = this.#aboveOf(target)
    if (target.kind !== 'content') return { ...found, above }
    const contents = found.contents.filter(({ content }) => isMeant(content, target.content))
    if (contents.length === 0) throw new Failure('absent', `${path} is gone`)
    return { ...found, above, contents: contents.map(({ content }) => ({ path, content })) }
  }

  #context(): RequestContext {
    return dueIn(this.parts.patience, this.parts.clock, 'guess')
  }

  async #ask<Answer>(entry: Pick<Entry<Answer>, 'known' | 'ask'>): Promise<Answer> {
    return entry.known() ?? this.parts.limit(() => entry.ask(this.#context()))
  }

  async #list(directory: WalkedNode): Promise<readonly Dentry[]> {
    const { catalog, limit, tree } = this.parts
    if (directory.kind === 'report') {
      const report = await limit(() => catalog.record(directory).ask(this.#context()))
      // One that is not shared is named where it is met.
      const rows = this.parts.dialect.lists.rows(report) ?? []
      await Promise.all(rows.map(({ calculation }) => this.#calculationAt(calculation).catch(unlessOfAll)))
      return calculationsIn(report, this.parts)
    }
    if (directory.kind === 'project') {
      await this.#ask(catalog.record({ kind: 'project', id: directory.id }))
      // Of a colleague's project the list of shares may not be shown; then nothing shows it online either.
      await this.#ask(catalog.shares(directory.id)).catch(unlessOfAll)
    }
    if (directory.kind === 'calculation') {
      await this.#ask(catalog.record({ kind: 'calculation', id: directory.id }))
      // The files of a calculation never change.
      const known = tree.listKnown(directory)
      if (known !== undefined) return known
    }
    return limit(() => tree.list(directory, this.#context()))
  }

  async #calculationAt(id: CalculationId): Promise<CalculationNode> {
    const record = await this.#ask(this.parts.catalog.record({ kind: 'calculation', id }))
    return calculationOf(id, record, this.parts)
  }

  /** Without the title of the day when it was pinned, which would be news of an old name. One file needs the folder that lists it. */
  async #nodeOf(target: PinTarget): Promise<WalkedNode> {
    if (target.kind === 'content') return this.#calculationAt(target.content.calculation)
    if (target.kind === 'calculation') return this.#calculationAt(target.id)
    return target.kind === 'project' ? { kind: 'project', id: target.id } : target
  }

  #aboveOf(target: PinTarget): ReadonlySet<string> {
    const found = new Set<string>()
    for (let at = thingOf(target); at !== undefined; ) {
      const parent = this.parts.identities.known(at)?.parent as ProjectId | undefined
      if (parent === undefined || found.has(`project ${parent}`)) break
      found.add(`project ${parent}`)
      at = { kind: 'project', id: parent }
    }
    return found
  }
}

/** A generated file goes by the title of its calculation, which may change. */
const isMeant = ({ of, title }: Content, wanted: Content): boolean =>
  of === wanted.of && (of !== 'file' || title === wanted.title)
