// Node: what a path of the drive can be, as a closed union, so that every switch over it is complete.
import type { Catalog, Entry, Readable } from '../../cache/metadata/catalog.js'
import { contentLabel } from '../../content-kinds.js'
import type { RecordKey } from '../../edit/journal/record-key.js'
import { fixedNames, recordFile } from '../../layout.js'
import type { CompressedBatch } from '../../record/compact/compressed-batch.js'
import type { CalculationId, Content, Instant, ProjectId, ReportId, ShareId } from '../../remote/remote.js'

/** A record that a file shows and a save changes; a share needs its project, because only a project lists it. */
export type RecordNode =
  | ({ readonly kind: 'record'; readonly of: 'project'; readonly id: ProjectId } & ListedChild)
  | ({ readonly kind: 'record'; readonly of: 'calculation'; readonly id: CalculationId } & ListedChild)
  | { readonly kind: 'record'; readonly of: 'report'; readonly id: ReportId }
  | { readonly kind: 'record'; readonly of: 'share'; readonly id: ShareId; readonly project: ProjectId }

/** The facts of the listing that names it, if it was reached that way. */
export interface ListedChild {
  readonly parent?: ProjectId | undefined
  readonly published?: boolean | undefined
  /** Where that is which `.index.tsv` says of it beside its name. */
  readonly bundle?: CompressedBatch | undefined
  readonly place?: number
}

/** A file that makes a record when it is saved, and stands for that record afterwards; `id` is its name. */
export type NewNode =
  | { readonly kind: 'new'; readonly of: 'report'; readonly id: string }
  | { readonly kind: 'new'; readonly of: 'share'; readonly id: string; readonly project: ProjectId }

export interface OrderNode {
  readonly kind: 'order'
  readonly of: 'report'
  readonly id: ReportId
}

/** A file whose saves reach the service; it is the key of its texts in the journal. */
export type EditableNode = RecordNode | NewNode | OrderNode

export type GeneratedNode =
  | { readonly kind: 'generated'; readonly text: 'project-index'; readonly id: ProjectId }
  | {
      readonly kind: 'generated'
      readonly text:
        | 'report-index'
        | 'status'
        | 'user'
        | 'report-types'
        | 'readme'
        | 'first-steps'
        | 'reports-readme'
        | 'users-readme'
      readonly id: ''
    }

/** When the platform says it is from, where it said so without being asked for it. */
export interface DatedNode {
  readonly date?: Instant | undefined
  /** The time it shows for good, which its listing remembers. */
  readonly since?: Instant | undefined
  readonly born?: Instant | undefined
}

export type ProjectNode = {
  readonly kind: 'project'
  readonly id: ProjectId
  readonly title?: string | undefined
} & DatedNode &
  ListedChild
export type CalculationNode = {
  readonly kind: 'calculation'
  readonly id: CalculationId
  readonly title: string
} & DatedNode &
  ListedChild

export type DirectoryNode =
  | { readonly kind: 'root' }
  | { readonly kind: 'top' }
  | ProjectNode
  | CalculationNode
  | { readonly kind: 'shares'; readonly project: ProjectId }
  | { readonly kind: 'users' }
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'reports' }
  | { readonly kind: 'report'; readonly id: ReportId }
  | { readonly kind: 'report-names' }
  | { readonly kind: 'numbers' }
  | { readonly kind: 'number-room'; readonly of: 'project' | 'calculation' | 'report' }
  | { readonly kind: 'own' }
  | { readonly kind: 'drafts' }

export type ContentNode = { readonly kind: 'content'; readonly content: Content } & DatedNode

export type Node =
  | DirectoryNode
  | EditableNode
  | GeneratedNode
  | ContentNode
  /** One that a program made beside a record has its place there. */
  | { readonly kind: 'link'; readonly to: string; readonly place?: ScratchPlace }
  | { readonly kind: 'draft-text'; readonly name: string }
  | { readonly kind: 'scratch'; readonly place: ScratchPlace }

/** Where a local file of an editor lies: beside which record's directory, and under which name. */
export interface ScratchPlace {
  readonly directory: string
  readonly name: string
}

export interface Dentry {
  readonly name: string
  readonly node: Node
}

const fileKinds: Readonly<Record<Exclude<Node, DirectoryNode>['kind'], true>> = {
  record: true,
  new: true,
  order: true,
  generated: true,
  content: true,
  link: true,
  'draft-text': true,
  scratch: true,
}

export const isDirectory = (node: Node): node is DirectoryNode => !(node.kind in fileKinds)

export function isEditable(node: Node): node is EditableNode {
  return node.kind === 'record' || node.kind === 'new' || node.kind === 'order'
}

/** The file of a key; undefined where no file of the drive has it: that of a damaged note. */
export const nodeOfKey = (key: RecordKey | undefined): EditableNode | undefined =>
  key === undefined || (key.of === 'share' && key.project === undefined) ? undefined : (key as EditableNode)

/** The project, calculation or report that a node is, or is a file of; of a share its project. */
export function thingOf(node: Node): Readable | undefined {
  if (node.kind === 'content') return { kind: 'calculation', id: node.content.calculation }
  if (node.kind === 'new') return undefined
  if ('project' in node) return { kind: 'project', id: node.project }
  if (node.kind === 'record' || node.kind === 'order') return readableOf(node)
  return node.kind === 'project' || node.kind === 'calculation' || node.kind === 'report' ? node : undefined
}

export const readableOf = ({ of, id }: Exclude<RecordNode | OrderNode, { of: 'share' }>): Readable =>
  ({ kind: of, id }) as Readable

/** The record whose text, or a part of it, the file shows. */
export const savedNodeOf = (node: RecordNode | OrderNode): RecordNode =>
  node.kind === 'order' ? { ...node, kind: 'record' } : node

/** The question that brings the text of a record; a share is only ever listed with its project's others. */
export const questionOf = (catalog: Catalog, node: RecordNode | OrderNode): Omit<Entry<unknown>, 'learn'> =>
  node.of === 'share' ? catalog.shares(node.project) : catalog.record(readableOf(node))

/** The next question about the record of this file goes to the service. */
export function askAgain(catalog: Catalog, node: EditableNode): void {
  if (node.kind !== 'new') questionOf(catalog, node).refresh()
}

export function pathOfNode(node: EditableNode): string {
  if (node.kind === 'order') return `/${fixedNames.reports}/${node.id}/${fixedNames.order}`
  const file = node.kind === 'new' ? node.id : recordFile(node.id)
  if (node.of === 'report') return `/${fixedNames.reports}/${file}`
  if (node.of === 'share')
    return `/${fixedNames.numbers}/project/${node.project}/${fixedNames.shares}/${file}`
  return `/${fixedNames.numbers}/${node.of}/${node.id}/${fixedNames[node.of]}`
}

/** The record of what a directory stands for; undefined where that has none. */
export function recordOf(node: Node): RecordNode | undefined {
  if (node.kind === 'report') return { kind: 'record', of: 'report', id: node.id }
  return node.kind === 'project' || node.kind === 'calculation' ? recordOfChild(node) : undefined
}

export const recordOfChild = ({ kind, id, parent }: ProjectNode | CalculationNode): RecordNode =>
  ({ kind: 'record', of: kind, id, parent }) as RecordNode

/** A name for the node that outlives restarts; times and shown texts are kept under it. */
export function nodeKey(node: Node): string {
  switch (node.kind) {
    case 'record':
      return `record ${node.of} ${node.id}`
    case 'new':
      return `new ${node.of} ${node.of === 'share' ? `${node.project} ` : ''}${node.id}`
    case 'generated':
      return `generated ${node.text} ${node.id}`
    case 'order':
    case 'project':
    case 'calculation':
    case 'report':
      return `${node.kind} ${node.id}`
    case 'shares':
      return `shares ${node.project}`
    case 'user':
    case 'draft-text':
      return `${node.kind} ${node.name}`
    case 'number-room':
      return `number-room ${node.of}`
    case 'content': {
      const { of, calculation, mark = '', title } = node.content
      return `content ${of} ${calculation}${mark === '' ? '' : `/${mark}`} ${title}`
    }
    case 'link':
      return `link ${node.to}`
    case 'scratch':
      return `scratch ${node.place.directory} ${node.place.name}`
    case 'root':
    case 'top':
    case 'users':
    case 'reports':
    case 'report-names':
    case 'numbers':
    case 'own':
    case 'drafts':
      return node.kind
  }
}

/** The entries that pass: the very list, or its tail, where that is all of them, for it may be long. */
export function filterEntries(
  entries: readonly Dentry[],
  passes: (entry: Dentry) => boolean,
): readonly Dentry[] {
  const first = Math.max(0, entries.findIndex(passes))
  const tail = first === 0 ? entries : entries.slice(first)
  return tail.every(passes) ? tail : entries.filter(passes)
}

export const nodeIn = (entries: readonly Dentry[], name: string): Node | undefined =>
  entries.find(entry => entry.name === name)?.node

export const generatedEntry = (
  name: string,
  text: Exclude<GeneratedNode['text'], 'project-index'>,
): Dentry => ({ name, node: { kind: 'generated', text, id: '' } })

/** For many lookups; of equal names the first counts. */
export const nodesByName = (entries: readonly Dentry[]): ReadonlyMap<string, Node> =>
  new Map(entries.toReversed().map(({ name, node }) => [name, node]))

/** The id of the project, calculation, report or share that the node is, or is a file of; undefined for none. */
export function nodeId(node: Node): string | undefined {
  if (node.kind === 'content') return node.content.calculation
  if (node.kind === 'shares') return node.project
  if (node.kind === 'new') return undefined
  return 'id' in node && node.id !== '' ? node.id : undefined
}

/** As `user.calcfs.kind` says it: a record is called like the thing it is of. */
export function nodeKind(node: Node): string {
  if (node.kind === 'record') return node.of
  if (node.kind === 'content') return contentLabel(node.content.of)
  return node.kind
}
