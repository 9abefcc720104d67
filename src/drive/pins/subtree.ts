// Subtree: all that lies below a node, as it is known, or as the service has it for a pin; what cannot be had is named, and the rest goes on.
import pLimit, { type LimitFunction } from 'p-limit'
import type { Identities } from '../../cache/identity.js'
import type { Catalog, Entry, Readable } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Clock, dueIn } from '../../remote/clock.js'
import type { CalculationId, Content, ProjectId, ReportId, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import {
  type CalculationNode,
  type Dentry,
  type DirectoryNode,
  type Node,
  nodeKey,
  type ProjectNode,
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

export interface MissingPart {
  readonly path: string
  readonly failure: Failure
}

interface Subtree {
  readonly contents: readonly PlacedContent[]
  /** The keys of its projects, calculations and reports. */
  readonly things: ReadonlySet<string>
  readonly missing: readonly MissingPart[]
}

/** The entries of a project, a calculation or `projects/`; those of a report are its calculations. */
type ListEntries = (directory: WalkedNode) => Promise<readonly Dentry[]> | readonly Dentry[]

const sideBySide = 16

/** Everything below the node, itself included. A project that is listed below itself is looked at once. @throws Failure of an outage, or of the node itself */
async function subtreeOf(from: PlacedNode, list: ListEntries): Promise<Subtree> {
  const limit = pLimit(sideBySide)
  const contents: PlacedContent[] = []
  const missing: MissingPart[] = []
  const things = new Set<string>()
  let isOver = false

  async function visit({ path, node }: PlacedNode): Promise<void> {
    if (isOver) return
    if (node.kind === 'content') contents.push({ path, content: node.content })
    if (!isWalked(node)) return
    // Several paths lead to one thing where a project is listed below itself, or a report lists a calculation twice.
    if (things.has(nodeKey(node))) return
    if (node.kind !== 'top') things.add(nodeKey(node))
    const entries = await limit(() => entriesOf(path, node))
    await Promise.all(entries.map(({ name, node: inner }) => visit({ path: `${path}/${name}`, node: inner })))
  }

  async function entriesOf(path: string, node: WalkedNode): Promise<readonly Dentry[]> {
    if (isOver) return []
    try {
      return await list(node)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (node === from.node || isOfAll(failure)) {
        isOver = true
        throw failure
      }
      // A thing that is gone is no part of it.
      if (!isAbsent(failure)) missing.push({ path, failure })
      return []
    }
  }

  await visit(from)
  return { contents, things, missing }
}

/** A failure that says nothing about the one thing that was asked for. */
const isOfAll = (failure: Failure): boolean => isA('outage', failure) || failure.kind === 'internal'

type WalkedNode = ProjectNode | CalculationNode | Extract<DirectoryNode, { kind: 'top' | 'report' }>

export const isWalked = (node: Node): node is WalkedNode =>
  node.kind === 'project' || node.kind === 'calculation' || node.kind === 'top' || node.kind === 'report'

export interface KnownParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: Identities
}

type CalculationParts = Omit<KnownParts, 'tree'>

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

function knownEntries(directory: DirectoryNode, parts: KnownParts): readonly Dentry[] | undefined {
  const { catalog, dialect, tree } = parts
  if (directory.kind !== 'report') return tree.listKnown(directory)
  const record = catalog.record({ kind: 'report', id: directory.id }).known()
  return (
    record &&
    (dialect.lists.rows(record) ?? []).flatMap(({ calculation }, at): Dentry[] => {
      const node = knownCalculation(calculation, parts)
      return node === undefined ? [] : [{ name: String(at + 1), node }]
    })
  )
}

function knownCalculation(id: CalculationId, parts: CalculationParts): CalculationNode | undefined {
  const record = parts.catalog.record({ kind: 'calculation', id }).known()
  return record === undefined ? listedCalculation(id, parts) : calculationOf(id, record, parts)
}

/**
 * The node that its project lists, if that is known. Fields that no answer gave would contradict what is known of its
 * identity, and what was downloaded of it would count as another thing's.
 */
function listedCalculation(
  id: CalculationId,
  { catalog, identities }: CalculationParts,
): CalculationNode | undefined {
  const parent = identities.known({ kind: 'calculation', id })?.parent
  const siblings = parent === undefined ? undefined : catalog.children(parent as ProjectId).known()
  return siblings?.calculations.find(one => one.id === id)
}

function calculationOf(id: CalculationId, record: JsonObject, parts: CalculationParts): CalculationNode {
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
    const found = await (target.kind === 'content'
      ? this.#ofContent(path, target.content)
      : subtreeOf({ path, node: await this.#nodeOf(target) }, node => this.#list(node)))
    return { ...found, above: this.#aboveOf(target) }
  }

  #context(): RequestContext {
    return dueIn(this.parts.patience, this.parts.clock, 'guess')
  }

  async #ask<Answer>(entry: Pick<Entry<Answer>, 'known' | 'ask'>): Promise<Answer> {
    return entry.known() ?? this.parts.limit(() => entry.ask(this.#context()))
  }

  async #list(directory: DirectoryNode): Promise<readonly Dentry[]> {
    const { catalog, limit, tree } = this.parts
    if (directory.kind === 'report') return this.#rowsOf(directory.id)
    if (directory.kind === 'project') {
      await this.#ask(catalog.record({ kind: 'project', id: directory.id }))
      // Of a colleague's project the list of shares may not be shown; then nothing shows it online either.
      await this.#ask(catalog.shares(directory.id)).catch((thrown: unknown) => {
        if (isOfAll(asFailure(thrown))) throw thrown
      })
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

  async #rowsOf(id: ReportId): Promise<readonly Dentry[]> {
    const { catalog, dialect, limit } = this.parts
    const record = catalog.record({ kind: 'report', id })
    const rows = dialect.lists.rows(await limit(() => record.ask(this.#context()))) ?? []
    const found = await Promise.allSettled(rows.map(row => this.#calculationAt(row.calculation)))
    return found.flatMap((one, at): Dentry[] => {
      if (one.status === 'fulfilled') return [{ name: `${at + 1}-${one.value.title}`, node: one.value }]
      const failure = asFailure(one.reason)
      if (isOfAll(failure)) throw failure
      const row = rows[at]
      if (row === undefined || isAbsent(failure)) return []
      // It may not be shared: it is named where it is met.
      const node = knownCalculation(row.calculation, this.parts)
      return node === undefined ? [] : [{ name: `${at + 1}-${node.title}`, node }]
    })
  }

  /** One file needs the folder that lists it. A generated one goes by the title of its calculation, which may change. */
  async #ofContent(path: string, wanted: Content): Promise<Subtree> {
    const entries = await this.#list(await this.#calculationAt(wanted.calculation))
    const isWanted = ({ of, title }: Content): boolean =>
      of === wanted.of && (of !== 'file' || title === wanted.title)
    const contents = entries.flatMap(({ node }) =>
      node.kind === 'content' && isWanted(node.content) ? [{ path, content: node.content }] : [],
    )
    if (contents.length === 0) throw new Failure('absent', `${path} is gone`)
    return { contents, things: new Set([`calculation ${wanted.calculation}`]), missing: [] }
  }

  /** Without the title of the day when it was pinned, which would be news of an old name. */
  async #nodeOf(target: Exclude<PinTarget, { kind: 'content' }>): Promise<DirectoryNode> {
    if (target.kind === 'calculation') return this.#calculationAt(target.id)
    return target.kind === 'project' ? { kind: 'project', id: target.id } : target
  }

  #aboveOf(target: PinTarget): ReadonlySet<string> {
    const found = new Set<string>()
    if (target.kind === 'top' || target.kind === 'report') return found
    let at: Readable =
      target.kind === 'content' ? { kind: 'calculation', id: target.content.calculation } : target
    for (;;) {
      const parent = this.parts.identities.known(at)?.parent as ProjectId | undefined
      if (parent === undefined || found.has(`project ${parent}`)) return found
      found.add(`project ${parent}`)
      at = { kind: 'project', id: parent }
    }
  }
}
