// Node: what a path of the drive can be, as a closed union, so that every switch over it is complete.

import { contentLabel } from '../../content-kinds.js'
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

/** A file that makes a record when it is saved, and stands for that record afterwards. */
export type NewNode =
  | { readonly kind: 'new'; readonly of: 'report'; readonly name: string }
  | { readonly kind: 'new'; readonly of: 'share'; readonly name: string; readonly project: ProjectId }

export interface OrderNode {
  readonly kind: 'order'
  readonly id: ReportId
}

/** A file whose saves reach the service. */
export type EditableNode = RecordNode | NewNode | OrderNode

/** A text that calcfs writes itself from what it knows. */
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
  /** When it was made, where that is known. */
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
  | { readonly kind: 'link'; readonly to: string; readonly place?: ScratchPlace; readonly because?: string }
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

/** The record of what a directory stands for; undefined where that has none. */
export function recordOf(node: Node): RecordNode | undefined {
  switch (node.kind) {
    case 'project':
      return { kind: 'record', of: 'project', id: node.id, parent: node.parent }
    case 'calculation':
      return { kind: 'record', of: 'calculation', id: node.id, parent: node.parent }
    case 'report':
      return { kind: 'record', of: 'report', id: node.id }
    default:
      return undefined
  }
}

/** A name for the node that outlives restarts; times and shown texts are kept under it. */
export function nodeKey(node: Node): string {
  switch (node.kind) {
    case 'record':
      return `record ${node.of} ${node.id}`
    case 'new':
      return `new ${node.of} ${node.of === 'share' ? `${node.project} ` : ''}${node.name}`
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

/** The node of this name in a list of entries. */
export const nodeIn = (entries: readonly Dentry[], name: string): Node | undefined =>
  entries.find(entry => entry.name === name)?.node

/** The same for many lookups; of equal names the first counts. */
export const nodesByName = (entries: readonly Dentry[]): ReadonlyMap<string, Node> =>
  new Map(entries.toReversed().map(({ name, node }) => [name, node]))

export const dentries = (named: ReadonlyMap<string, Node>): Dentry[] =>
  [...named].map(([name, node]) => ({ name, node }))

/** The id of the project, calculation, report or share that the node is, or is a file of; undefined for none. */
export function nodeId(node: Node): string | undefined {
  if (node.kind === 'content') return node.content.calculation
  if (node.kind === 'shares') return node.project
  return 'id' in node && node.id !== '' ? node.id : undefined
}

/** As `user.calcfs.kind` says it: a record is called like the thing it is of. */
export function nodeKind(node: Node): string {
  if (node.kind === 'record') return node.of
  if (node.kind === 'content') return contentLabel(node.content.of)
  return node.kind
}
