// What is told of a new file whose record was made, and not all that it says.
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
