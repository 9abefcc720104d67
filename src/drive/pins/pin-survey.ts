// Pin survey: what belongs to a pin now, asked of the service as far as it is not known or may be old.
import type { LimitFunction } from 'p-limit'
import type { Entry, Readable } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import type { CalculationId, Content, ProjectId, ReportId, RequestContext } from '../../remote/remote.js'
import {
  type CalculationNode,
  type Dentry,
  type DirectoryNode,
  nodeKey,
  type ProjectNode,
} from '../nodes/node.js'
import type { Pin } from './pin-store.js'
import {
  isOfAll,
  type KnownParts,
  knownCalculation,
  listedCalculation,
  recordedCalculation,
  type Subtree,
  subtreeOf,
} from './subtree.js'

/** The members of a pin, and the projects that lead to them. */
export interface SurveyedPin extends Subtree {
  readonly above: ReadonlySet<string>
}

export interface PinSurveyParts extends KnownParts {
  readonly limit: LimitFunction
  readonly context: () => RequestContext
}

/** A project that lies so deep lies in itself. */
const deepest = 64

export class PinSurvey {
  constructor(private readonly parts: PinSurveyParts) {}

  /** @throws Failure of an outage, or of the pinned thing itself */
  async look({ path, target }: Pin): Promise<SurveyedPin> {
    const found = await (target.kind === 'content'
      ? this.#ofContent(path, target.content)
      : subtreeOf({ path, node: await this.#nodeOf(target) }, node => this.#list(node)))
    return { ...found, above: this.#aboveOf(target) }
  }

  async #ask<Answer>(entry: Pick<Entry<Answer>, 'known' | 'ask'>): Promise<Answer> {
    return entry.known() ?? this.parts.limit(() => entry.ask(this.parts.context()))
  }

  async #list(directory: DirectoryNode): Promise<readonly Dentry[]> {
    const { catalog, context, limit, tree } = this.parts
    if (directory.kind === 'report') return this.#rowsOf(directory.id)
    if (directory.kind === 'project') {
      await this.#ask(catalog.record({ kind: 'project', id: directory.id }))
      // Of a colleague's project the list of shares may not be shown; then nothing shows it online either.
      await this.#ask(catalog.shares(directory.id)).catch(unlessAway)
    }
    if (directory.kind === 'calculation') {
      await this.#ask(catalog.record({ kind: 'calculation', id: directory.id }))
      // The files of a calculation never change.
      const known = tree.listKnown(directory)
      if (known !== undefined) return known
    }
    return limit(() => tree.list(directory, context()))
  }

  async #calculationAt(id: CalculationId): Promise<CalculationNode> {
    const { catalog, dialect } = this.parts
    const record = await this.#ask(catalog.record({ kind: 'calculation', id }))
    return listedCalculation(id, this.parts) ?? recordedCalculation(id, dialect.facts(record))
  }

  async #rowsOf(id: ReportId): Promise<readonly Dentry[]> {
    const { catalog, context, dialect, limit } = this.parts
    const record = catalog.record({ kind: 'report', id })
    const rows = dialect.rows(await limit(() => record.ask(context()))) ?? []
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
  async #nodeOf(target: Exclude<Pin['target'], { kind: 'content' }>): Promise<DirectoryNode> {
    if (target.kind === 'calculation') return this.#calculationAt(target.id)
    return target.kind === 'project' ? { kind: 'project', id: target.id } : target
  }

  /** The projects that lead to a pin, as far as they are known. */
  #aboveOf(target: Pin['target']): ReadonlySet<string> {
    const found = new Set<string>()
    if (target.kind === 'top' || target.kind === 'report') return found
    const thing =
      target.kind === 'content' ? ({ kind: 'calculation', id: target.content.calculation } as const) : target
    for (let at = this.#parentOf(thing); at !== undefined && found.size < deepest; at = this.#parentOf(at))
      found.add(nodeKey(at))
    return found
  }

  #parentOf(thing: Readable): ProjectNode | undefined {
    const parent = this.parts.identities.known(thing)?.parent
    return parent === undefined ? undefined : { kind: 'project', id: parent as ProjectId }
  }
}

/** @throws what says that nothing can be known now */
function unlessAway(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (isOfAll(failure)) throw failure
}
