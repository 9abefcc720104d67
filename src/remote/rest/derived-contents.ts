// Validates generated files: a page, or an empty, blank or `null` answer under status 200 is an error, never a file.
import { derivedKindOf } from '../../content-kinds.js'
import { Failure } from '../../failure.js'
import type { Body, Remote } from '../remote.js'

/** No generated file begins with more blanks. */
const blanksAtMost = 4096

/** The same service, whose generated files are never empty. */
export function refuseEmptyDerived(remote: Remote): Remote {
  return {
    ...remote,
    async contentSize(content, context) {
      const told = await remote.contentSize(content, context)
      const fewest = derivedKindOf(content.of)?.fewestBytes ?? 0
      // A smaller length from HEAD is no length of the file.
      return told !== undefined && told.bytes < fewest ? undefined : told
    },
    async content(content, start, context, end, of) {
      const body = await remote.content(content, start, context, end, of)
      const kind = derivedKindOf(content.of)
      if (kind !== undefined && body.isPage === true) {
        body.cancel()
        throw new Failure('broken', `a web page came in the place of the ${kind.label} ${content.title}`)
      }
      if (kind === undefined || body.start > 0) return body
      const file = `${kind.label} ${content.title}`
      if (body.length !== undefined && body.length < kind.fewestBytes) {
        body.cancel()
        throw nothing(file)
      }
      return { ...body, bytes: filled(body.bytes, file) }
    },
  }
}

/** Yields nothing before a non-blank byte, so that an error is not taken for the rest. @throws Failure 'broken' while iterated */
async function* filled(pieces: Body['bytes'], file: string): AsyncGenerator<Uint8Array> {
  const held: Uint8Array[] = []
  let bytes = 0
  let start = ''
  for await (const piece of pieces) {
    if (!isNothing(start)) {
      yield piece
      continue
    }
    held.push(piece)
    bytes += piece.length
    start += Buffer.from(piece).toString().trim()
    if (!isNothing(start)) yield* held
    else if (bytes > blanksAtMost) break
  }
  if (isNothing(start)) throw nothing(file)
}

const nothing = (file: string): Failure =>
  new Failure('broken', `the service answered with nothing in the place of the ${file}`)

const isNothing = (start: string): boolean => start === '' || 'null'.startsWith(start)
