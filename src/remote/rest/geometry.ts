// When an answer is no generated geometry: nothing, blanks or a `null` under a 200 are an error, never a file.
import { Failure } from '../../failure.js'
import type { Body, Remote } from '../remote.js'

/** One atom takes as many: `1`, a line without text, `H 0 0 0`. What HEAD tells of fewer is no length of a geometry. */
const fewestBytes = 11
/** No geometry begins with more blanks. */
const blanksAtMost = 4096

/** The same service, of which no geometry is empty. */
export function refuseEmptyGeometries(remote: Remote): Remote {
  return {
    ...remote,
    async contentSize(content, context) {
      const told = await remote.contentSize(content, context)
      return content.of === 'xyz' && told !== undefined && told < fewestBytes ? undefined : told
    },
    async content(content, start, context, end, of) {
      const body = await remote.content(content, start, context, end, of)
      if (content.of === 'file' || body.start > 0) return body
      // A length that was told is remembered: it counts once all has come.
      return { ...body, length: undefined, bytes: filled(body.bytes, content.title) }
    },
  }
}

/** Nothing is given before something has come, so that no other answer is taken for the rest of it. @throws Failure 'broken' while iterated */
async function* filled(pieces: Body['bytes'], title: string): AsyncGenerator<Uint8Array> {
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
    throw new Failure('broken', `the service answered with nothing in the place of the geometry ${title}`)
}

const isNothing = (start: string): boolean => start === '' || 'null'.startsWith(start)
