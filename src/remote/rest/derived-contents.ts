// When an answer is none of the files that the service makes: nothing, blanks or a `null` under a 200 are an error, never a file.
import { derivedKindOf } from '../../content-kinds.js'
import { Failure } from '../../failure.js'
import type { Body, Remote } from '../remote.js'

/** No such file begins with more blanks. */
const blanksAtMost = 4096

/** The same service, of which no file that it makes is empty. */
export function refuseEmptyDerived(remote: Remote): Remote {
  return {
    ...remote,
    async contentSize(content, context) {
      const told = await remote.contentSize(content, context)
      const fewest = derivedKindOf(content.of)?.fewestBytes ?? 0
      // What HEAD tells of fewer is no length of it.
      return told !== undefined && told < fewest ? undefined : told
    },
    async content(content, start, context, end, of) {
      const body = await remote.content(content, start, context, end, of)
      const kind = derivedKindOf(content.of)
      if (kind === undefined || body.start > 0) return body
      // A length that was told is remembered: it counts once all has come.
      return { ...body, length: undefined, bytes: filled(body.bytes, `${kind.label} ${content.title}`) }
    },
  }
}

/** Nothing is given before something has come, so that no other answer is taken for the rest of it. @throws Failure 'broken' while iterated */
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
  if (isNothing(start))
    throw new Failure('broken', `the service answered with nothing in the place of the ${file}`)
}

const isNothing = (start: string): boolean => start === '' || 'null'.startsWith(start)
