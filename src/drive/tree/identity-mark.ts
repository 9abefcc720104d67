// Identity mark: the identity of a project or calculation, noted before anything kept under its id is used, and looked at before a change.
import { isOtherRecord, type RecordRef } from '../../cache/identity.js'
import { Failure, unlessDenied } from '../../failure.js'
import { chain, type MaybePromise, recover } from '../../maybe-promise.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Identity, RequestContext } from '../../remote/remote.js'
import type { CalculationNode, ProjectNode } from '../nodes/node.js'
import type { TreeSources } from './directory-kind.js'

type Marked = ProjectNode | CalculationNode

/** A listing gives each child one node until it changes. */
export function openMarks({ identities, ...parts }: TreeSources) {
  /** A number: its changes, where the mark is its date, of which no string is kept for each of a hundred thousand. */
  const marks = new WeakMap<Marked, { readonly mark: string; readonly changes: number } | number>()

  function note(node: Marked, mark: string): string {
    marks.set(node, mark === String(node.born) ? identities.count : { mark, changes: identities.count })
    return mark
  }

  function noted(node: Marked): string | undefined {
    const noted = marks.get(node)
    if (noted === undefined) return undefined
    const known = typeof noted === 'number' ? { mark: String(node.born), changes: noted } : noted
    // A record that was read by its number may have told it; the listing of this node is old then.
    const change = identities.count === known.changes ? undefined : identities.changeOf(refOf(node))
    if (change !== undefined && change.place > known.changes) throw new Failure('replaced', change.sentence)
    return known.mark
  }

  /** The same without a request; undefined where its record has to be read. */
  function known(node: Marked): string | undefined {
    const mark = noted(node)
    if (mark !== undefined) return mark
    const isListed = node.since !== undefined
    const said = saidOf(node)
    if (isListed && identities.isElsewhere(refOf(node), said)) return undefined
    return note(node, identities.observe(refOf(node), said, isListed ? 'listing' : 'record'))
  }

  return {
    known,
    /**
     * The mark under which its contents are kept; each node is looked at once. A record is read where a listing has the id
     * under another name or in another project.
     * @throws Failure 'replaced' where its id stands for another thing since then: the directory that showed it is listed again
     */
    of(node: Marked, context: RequestContext): MaybePromise<string> {
      const mark = known(node)
      if (mark !== undefined) return mark
      const before = identities.known(refOf(node))
      return chain(readNow(node, parts, context), now => {
        if (node.kind === 'calculation') parts.catalog.refreshCalculation(node.id)
        return note(node, identities.settle(refOf(node), saidOf(node), { before, now }))
      })
    },
  }
}

export type Marks = ReturnType<typeof openMarks>

/** Its own record now; undefined where this user may not read it. @throws an outage, where only what was told before is at hand */
function readNow(
  node: Marked,
  { catalog, dialect }: Pick<TreeSources, 'catalog' | 'dialect'>,
  context: RequestContext,
): MaybePromise<Identity | undefined> {
  const entry = catalog.record(node)
  entry.refresh()
  const read = chain(entry.ask(context), record => {
    const stale = entry.stale()
    if (stale !== undefined) throw stale
    return dialect.facts(record)
  })
  return recover(read, unlessDenied)
}

/**
 * One check before a project or calculation is changed or deleted: its record was just read.
 * @throws Failure 'another-thing' where that, or the listing that led to it, is of another one: the next look asks for a new one
 */
export function refuseOther(
  node: Marked,
  { record, notDone }: { readonly record: JsonObject; readonly notDone: string },
  { catalog, dialect }: Pick<TreeSources, 'catalog' | 'dialect'>,
): void {
  const known = catalog.record(node).known()
  const isOther = known !== undefined && dialect.isAnother(known, record)
  const facts = dialect.facts(record)
  if (!isOther && !isOtherRecord(node, facts)) return
  if (node.parent !== undefined) catalog.refreshProject(node.parent)
  throw new Failure(
    'another-thing',
    `${node.kind} ${node.id} is called ${JSON.stringify(facts.title ?? '')} now, or is another one: ${notDone}`,
  )
}

const refOf = ({ kind, id }: Marked): RecordRef => ({ kind, id })

/** The listing's facts of it, or its number alone. */
const saidOf = ({ born, title, parent, since }: Marked): Identity => ({
  born,
  owner: undefined,
  title,
  parent: since === undefined ? undefined : parent,
})
