// Protocol of long answers: trees and files in frames; and of many files over one connection, asked as lines of JSON and answered with a short file, or with the word to read it.
import * as z from 'zod'
import type {
  DriveEntry,
  FileFacts,
  ShortFile,
  TreeItem,
  TreeQuestion,
} from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { instant } from '../../remote/remote.js'
import { failureForm, failureIn, failureParts } from './conversation.js'

const texts = z.array(z.string()).optional()

const filterForm = z.object({
  names: texts,
  namesOfAnyCase: texts,
  paths: texts,
  types: texts,
  include: texts,
  exclude: texts,
})

/** What is asked for each long answer. */
export const streamQuestions = {
  tree: z.object({
    path: z.string(),
    top: z.string().optional(),
    calledAs: z.string().optional(),
    depth: z.number().optional(),
    from: z.number().optional(),
    attributes: z.boolean(),
    follow: z.boolean(),
    filter: filterForm,
  }) satisfies z.ZodType<TreeQuestion>,
  file: z.object({ path: z.string() }),
}

export type StreamName = keyof typeof streamQuestions
export const isStream = (name: string): name is StreamName => Object.hasOwn(streamQuestions, name)

const entryForm = z.object({
  path: z.string(),
  type: z.enum(['file', 'directory', 'link']),
  kind: z.string(),
  id: z.string().optional(),
  mode: z.number(),
  size: z.number().optional(),
  mtime: z.number().optional(),
  target: z.string().optional(),
})

const factsForm = z.object({ mode: z.number(), size: z.number(), mtime: z.number() })

const itemsForm = z.array(z.union([entryForm, z.object({ path: z.string(), failed: failureForm })]))

export const printItems = (items: readonly TreeItem[]): string =>
  JSON.stringify(
    items.map(item => ('failure' in item ? { path: item.path, failed: failureParts(item.failure) } : item)),
  )

export const printFacts = (facts: FileFacts): string => JSON.stringify(facts)

/** @throws Failure 'broken' */
export function readItems(text: string): readonly TreeItem[] {
  return inForm(itemsForm, text).map(item =>
    'failed' in item ? { path: item.path, failure: failureIn(item.failed) } : dated(item),
  )
}

/** @throws Failure 'broken' */
export function readFacts(text: string): FileFacts {
  return readableFacts(inForm(factsForm, text))
}

const readableFacts = (facts: z.infer<typeof factsForm>): FileFacts => ({
  ...facts,
  mtime: instant(facts.mtime),
})

/** @throws Failure as it was thrown at the other end */
export function throwFailure(text: string): never {
  throw failureIn(inForm(failureForm, text))
}

const dated = (entry: z.infer<typeof entryForm>): DriveEntry => ({
  ...entry,
  mtime: entry.mtime === undefined ? undefined : instant(entry.mtime),
})

/** @throws Failure 'broken' */
function inForm<Value>(form: z.ZodType<Value>, text: string): Value {
  try {
    return form.parse(JSON.parse(text))
  } catch (cause) {
    throw new Failure(
      'broken',
      'the drive answered in another way than this version of calcfs expects; unmount and mount it again',
      { cause },
    )
  }
}

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
