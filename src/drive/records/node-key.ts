// Keys of an editable file: the node's key in the drive, and the record's key in the journal.

import type { RecordKey } from '../../edit/journal/record-key.js'
import { fixedNames, recordFile } from '../../layout.js'
import type { CalculationId, ProjectId, ReportId, ShareId } from '../../remote/remote.js'
import type { EditableNode } from '../nodes/node.js'

export function recordKeyOf(node: EditableNode): RecordKey {
  switch (node.kind) {
    case 'order':
      return { kind: 'report', id: node.id, as: 'order' }
    case 'new':
      return node.of === 'share'
        ? { kind: 'share', id: node.name, project: node.project, as: 'new' }
        : { kind: 'report', id: node.name, as: 'new' }
    case 'record':
      return node.of === 'share'
        ? { kind: 'share', id: node.id, project: node.project }
        : { kind: node.of, id: node.id }
  }
}

/** Undefined for a key that no file of the drive has: one of a damaged note, or of another version. */
export function nodeOfRecordKey(key: RecordKey | undefined): EditableNode | undefined {
  if (key === undefined) return undefined
  const { kind, id, project, as } = key
  if (as === 'order') return { kind: 'order', id: id as ReportId }
  switch (kind) {
    case 'project':
      return { kind: 'record', of: 'project', id: id as ProjectId }
    case 'calculation':
      return { kind: 'record', of: 'calculation', id: id as CalculationId }
    case 'report':
      return as === 'new'
        ? { kind: 'new', of: 'report', name: id }
        : { kind: 'record', of: 'report', id: id as ReportId }
    case 'share':
      if (project === undefined) return undefined
      return as === 'new'
        ? { kind: 'new', of: 'share', name: id, project: project as ProjectId }
        : { kind: 'record', of: 'share', id: id as ShareId, project: project as ProjectId }
  }
}

const reports = `/${fixedNames.reports}`
const numbers = `/${fixedNames.numbers}`
const sharesOf = (project: ProjectId): string => `${numbers}/project/${project}/${fixedNames.shares}`

/** Where such a file stands, for people; reports and what has a number. */
export function pathOfNode(node: EditableNode): string {
  switch (node.kind) {
    case 'order':
      return `${reports}/${node.id}/${fixedNames.order}`
    case 'new':
      return node.of === 'share' ? `${sharesOf(node.project)}/${node.name}` : `${reports}/${node.name}`
    case 'record':
      switch (node.of) {
        case 'report':
          return `${reports}/${recordFile(node.id)}`
        case 'share':
          return `${sharesOf(node.project)}/${recordFile(node.id)}`
        case 'project':
          return `${numbers}/project/${node.id}/${fixedNames.project}`
        case 'calculation':
          return `${numbers}/calculation/${node.id}/${fixedNames.calculation}`
      }
  }
}
