// Texts in a directory: whose leases end when it is refreshed.
import { type DirectoryNode, nodeKey } from '../nodes/node.js'

/** Whether a text, by its node's key, is shown in this directory, or may be. */
export function textsIn(directory: DirectoryNode): (key: string) => boolean {
  switch (directory.kind) {
    case 'project':
      return isOneOf([
        nodeKey({ kind: 'record', of: 'project', id: directory.id }),
        nodeKey({ kind: 'generated', text: 'project-index', id: directory.id }),
      ])
    case 'calculation':
      return isOneOf([nodeKey({ kind: 'record', of: 'calculation', id: directory.id })])
    case 'report':
      return isOneOf([
        nodeKey({ kind: 'record', of: 'report', id: directory.id }),
        nodeKey({ kind: 'order', id: directory.id }),
      ])
    case 'reports':
      return key => /^(record report|order|generated report-index) /.test(key)
    case 'shares':
      return key => key.startsWith('record share ')
    case 'own':
      return key => key.startsWith('generated ')
    default:
      return () => false
  }
}

const isOneOf = (keys: readonly string[]) => (key: string) => keys.includes(key)
