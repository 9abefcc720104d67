// Pin survey: what belongs to a pin now, asked of the service as far as it is not known or may be old.
import type { LimitFunction } from 'p-limit'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import type { CalculationId, Content, ReportId, RequestContext } from '../../remote/remote.js'
import { type CalculationNode, type Dentry, type DirectoryNode, nodeKey } from '../nodes/node.js'
import type { Pin } from './pin-store.js'
import {
  type KnownParts,
  knownCalculation,
  knownEntries,
  listedCalculation,
  recordedCalculation,
  type Subtree,
  type SubtreeSource,
  subtreeOf,
} from './subtree.js'

/** What belongs to a pin, and the projects that lead to it. */
export interface SurveyedPin extends Subtree {
  readonly above: ReadonlySet<string>
}

export interface SurveyOptions {
  readonly context: () => RequestContext
  /** Holds the keys of what is listed just now: its answer is no news for this survey. */
  readonly listing: Set<string>
}

/** An entry of the catalog. */
interface Asked<Answer> {
  known(): Answer | undefined
  ask(context: RequestContext): Answer | Promise<Answer>
}

interface AskingSource extends SubtreeSource {
  calculationAt(id: CalculationId): Promise<CalculationNode>
}

/** A project that lies so deep lies in itself. */
const deepest = 64

export function openPinSurvey(parts: KnownParts & { readonly limit: LimitFunction }) {
  const { tree, catalog, dialect, identities, limit } = parts
  function asking({ context, listing }: SurveyOptions): AskingSource {
    /** Asked for where it is not known. */
    async function ask<Answer>(entry: Asked<Answer>): Promise<Answer> {
      return entry.known() ?? limit(() => entry.ask(context()))
    }

    async function listed<Entries>(
      directory: DirectoryNode,
      list: () => Promise<Entries> | Entries,
    ): Promise<Entries> {
      const key = nodeKey(directory)
      listing.add(key)
      try {
        return await list()
      } finally {
        listing.delete(key)
      }
    }

    async function calculationAt(id: CalculationId): Promise<CalculationNode> {
      const record = await ask(catalog.record({ kind: 'calculation', id }))
      return listedCalculation(id, parts) ?? recordedCalculation(id, dialect.facts(record))
    }

    async function rowsOf(id: ReportId): Promise<readonly Dentry[]> {
      const record = catalog.record({ kind: 'report', id })
      const rows = dialect.rows(await limit(() => record.ask(context()))) ?? []
      const found = await Promise.allSettled(rows.map(({ calculation }) => calculationAt(calculation)))
      return found.flatMap((one, at): Dentry[] => {
        if (one.status === 'fulfilled') return [{ name: `${at + 1}-${one.value.title}`, node: one.value }]
        const failure = asFailure(one.reason)
        if (isA('outage', failure) || failure.kind === 'internal') throw failure
        const row = rows[at]
        if (row === undefined || isAbsent(failure)) return []
        // It may not be shared: it is named where it is met.
        const node = knownCalculation(row.calculation, parts)
        return node === undefined ? [] : [{ name: `${at + 1}-${node.title}`, node }]
      })
    }

    return {
      calculationAt,
      async meet(node) {
        if (node.kind === 'project') {
          await ask(catalog.record({ kind: 'project', id: node.id }))
          // Of a colleague's project the list of shares may not be shown; then nothing shows it online either.
          await ask(catalog.shares(node.id)).catch(unlessAway)
        }
        if (node.kind === 'calculation') await ask(catalog.record({ kind: 'calculation', id: node.id }))
      },
      list: directory =>
        listed(directory, () => {
          if (directory.kind === 'report') return rowsOf(directory.id)
          // The files of a calculation never change.
          const known = directory.kind === 'calculation' ? tree.listKnown(directory) : undefined
          return known ?? limit(() => tree.list(directory, context()))
        }),
      known: directory => knownEntries(directory, parts),
    }
  }

  /** The projects that lead to a pin, as far as they are known. */
  function aboveOf(target: Pin['target']): ReadonlySet<string> {
    const found = new Set<string>()
    let above = parentOf(target)
    while (above !== undefined && found.size < deepest) {
      found.add(above)
      above = identities.known({ kind: 'project', id: above })?.parent
    }
    return found
  }

  function parentOf(target: Pin['target']): string | undefined {
    if (target.kind === 'project' || target.kind === 'calculation') return identities.known(target)?.parent
    if (target.kind !== 'content') return undefined
    return identities.known({ kind: 'calculation', id: target.content.calculation })?.parent
  }

  /** One file needs the folder that lists it. A generated one goes by the title of its calculation, which may change. */
  async function ofContent(
    path: string,
    wanted: Extract<Pin['target'], { kind: 'content' }>['content'],
    source: AskingSource,
  ): Promise<Subtree> {
    const entries = await source.list(await source.calculationAt(wanted.calculation))
    const isWanted = ({ of, title }: Content): boolean =>
      of === wanted.of && (of !== 'file' || title === wanted.title)
    const present = entries.flatMap(({ node }) =>
      node.kind === 'content' && isWanted(node.content) ? [{ path, content: node.content }] : [],
    )
    if (present.length === 0) throw new Failure('absent', `${path} is gone`)
    return {
      contents: present,
      projects: new Set(),
      calculations: new Set([wanted.calculation]),
      reports: new Set(),
      missing: [],
    }
  }

  /** Without the title of the day when it was pinned, which would be news of an old name. */
  async function nodeOf(
    target: Exclude<Pin['target'], { kind: 'content' }>,
    source: AskingSource,
  ): Promise<DirectoryNode> {
    if (target.kind === 'calculation') return source.calculationAt(target.id)
    return target.kind === 'project' ? { kind: 'project', id: target.id } : target
  }

  async function survey({ path, target }: Pin, source: AskingSource): Promise<SurveyedPin> {
    const found = await (target.kind === 'content'
      ? ofContent(path, target.content, source)
      : subtreeOf({ path, node: await nodeOf(target, source) }, source))
    return { ...found, above: aboveOf(target) }
  }

  return {
    /** @throws Failure of an outage, or of the pinned thing itself */
    look: (pin: Pin, how: SurveyOptions): Promise<SurveyedPin> => survey(pin, asking(how)),
  }
}

export type PinSurvey = ReturnType<typeof openPinSurvey>

/** @throws what says that nothing can be known now */
function unlessAway(thrown: unknown): undefined {
  if (thrown instanceof Failure && !isA('outage', thrown) && thrown.kind !== 'internal') return undefined
  throw thrown
}
