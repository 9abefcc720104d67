// Protocol of many files over one connection: questions as lines of JSON, and answers that hold a short file, or say to read it.
import * as z from 'zod'
import type { ShortFile } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { failureForm, failureParts } from './conversation.js'
import { factsForm, inForm, readableFacts } from './stream-protocol.js'

/** The name of the connection, as a path of the socket. */
export const filesName = 'files'

const questionForm = z.object({ id: z.number(), path: z.string() })
export type FileQuestion = z.infer<typeof questionForm>

const headForm = z.union([
  z.object({ id: z.number(), failed: failureForm }),
  /** The bytes follow. */
  z.object({ id: z.number(), facts: factsForm }),
  /** It is to be read by the stream of one file. */
  z.object({ id: z.number() }),
])

/** What is known of a file: undefined where it is to be read. */
export interface FileAnswer {
  readonly id: number
  readonly found: ShortFile | undefined | { readonly failed: z.infer<typeof failureForm> }
}

const headLengthBytes = 4

export const printFileQuestion = (asked: FileQuestion): string => `${JSON.stringify(asked)}\n`

/** @throws Failure 'invalid' */
export function readFileQuestion(line: string): FileQuestion {
  const found = questionForm.safeParse(JSON.parse(line))
  if (found.success) return found.data
  throw new Failure('invalid', 'this drive does not understand the question for a file')
}

/** The payload of an answer in its parts. */
export function printFound(id: number, found: ShortFile | undefined): readonly Uint8Array[] {
  if (found === undefined) return parts({ id })
  return parts({ id, facts: found.facts }, found.bytes)
}

export const printFileFailure = (id: number, failure: Failure): readonly Uint8Array[] =>
  parts({ id, failed: failureParts(failure) })

function parts(head: z.infer<typeof headForm>, bytes?: Uint8Array): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(headLengthBytes)
  length.writeUInt32BE(text.length)
  return bytes === undefined ? [length, text] : [length, text, bytes]
}

/** @throws Failure 'broken' */
export function readFileAnswer(payload: Buffer): FileAnswer {
  const end = headLengthBytes + (payload.length < headLengthBytes ? 0 : payload.readUInt32BE(0))
  const head = inForm(headForm, payload.subarray(headLengthBytes, end).toString())
  if ('failed' in head) return { id: head.id, found: { failed: head.failed } }
  if (!('facts' in head)) return { id: head.id, found: undefined }
  const facts = readableFacts(head.facts)
  return { id: head.id, found: { facts, bytes: payload.subarray(end) } }
}
