// The sentences with which the drive refuses what the service has no operation for.
import { isDirectory, type Node } from './node.js'

export const noUpload =
  'the service has no upload: files cannot be created here, only records be changed and what an editor makes beside them'

/** Why this node cannot be written. */
export function readOnlyBecause(node: Node): string {
  return node.kind === 'content' || node.kind === 'calculation'
    ? 'the files of a calculation never change'
    : 'this cannot be changed through the drive'
}

/** The kind of refusal for a verb that is about files. */
export const refusalOf = (node: Node): 'is-directory' | 'not-permitted' =>
  isDirectory(node) ? 'is-directory' : 'not-permitted'
