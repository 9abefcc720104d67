// Detects a JSON error of the service under status 200, in place of a file whose name promises another format.
import { Failure } from '../../failure.js'
import type { DeclaredBody } from '../connection/body.js'

const jsonType = /^(application|text)\/([\w.-]+\+)?json$/
const jsonName = /json|\.(ipynb|js|map|har|jsn|webmanifest)$/i
const saidAtMost = 300

/**
 * The pieces of a file. A service may call every file JSON, and few of them begin like it: only an answer that is called so,
 * begins so and has another name is refused, whatever its length. @throws Failure 'broken' while iterated
 */
export function withoutErrors(
  pieces: AsyncIterable<Uint8Array>,
  { mediaType }: DeclaredBody,
  name: string,
): AsyncIterable<Uint8Array> {
  return jsonType.test(mediaType) && !jsonName.test(name) ? withoutJson(pieces, name) : pieces
}

async function* withoutJson(pieces: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let hasBegun = false
  for await (const piece of pieces) {
    const start: string = hasBegun ? '' : Buffer.from(piece.subarray(0, saidAtMost)).toString().trimStart()
    if (/^\ufeff?[{[]/.test(start)) {
      throw new Failure('broken', `the service answered with JSON instead of the file ${name}`, {
        said: start,
      })
    }
    hasBegun ||= start !== ''
    yield piece
  }
}
