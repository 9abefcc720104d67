// Sentences about a new record that was made only in part, or whose number this machine could not store.
import { Failure } from '../../failure.js'
import type { NewNode } from '../nodes/node.js'

export function madeAllTheSame(node: NewNode, id: string, cause: Failure): Failure {
  return new Failure(
    cause.kind,
    `it was made as ${node.of} ${id}, but not all of it is stored: ${cause.message}`,
    {
      cause,
      said: cause.said,
      place: cause.place,
    },
  )
}

export function listUnseen(node: NewNode, made: string): Failure {
  return new Failure(
    'refused',
    `it was made as ${node.of} ${made}, and whether its list is stored cannot be seen; save it again to set the list`,
  )
}

export function numberUnnoted(node: NewNode, id: string): Failure {
  return new Failure(
    'no-space',
    `it was made as ${node.of} ${id}, and the local disk did not take that number: make room, and save it again`,
  )
}

/** What this machine's disk refused: the text may not be in the record's draft either. */
export const isLocal = ({ kind }: Failure): boolean => kind === 'no-space' || kind === 'disk-read-only'
