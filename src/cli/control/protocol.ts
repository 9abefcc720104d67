// Protocol between a command and a daemon: which drive is meant, the form of failures, and the long answers, of trees and files.
import * as z from 'zod'
import type { DriveEntry, FileFacts, TreeItem, TreeQuestion } from '../../drive/interface/reader.js'
import { Failure, type FailureKind } from '../../failure.js'
import { instant } from '../../remote/remote.js'

/** The header of a call that names the kernel's device number of the drive that is meant. */
export const mountHeader = 'calcfs-mount'

/** The transferred form of a failure: what its message and its exit code need. */
const failureForm = z.object({
  kind: z.string(),
  sentence: z.string(),
  said: z.string().optional(),
  place: z.object({ line: z.number(), column: z.number() }).optional(),
})

export const failureParts = ({ kind, message, said, place }: Failure): z.infer<typeof failureForm> => ({
  kind,
  sentence: message,
  said,
  place,
})

/** An unknown kind from another version is no bug here: the exit code is that of any failure. */
const failureIn = ({ kind, sentence, said, place }: z.infer<typeof failureForm>): Failure =>
  new Failure(kind as FailureKind, sentence, { said, place })

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
  const facts = inForm(factsForm, text)
  return { ...facts, mtime: instant(facts.mtime) }
}

/** @throws Failure as it was thrown at the other end */
export function throwFailure(text: string): never {
  throw failureIn(inForm(failureForm, text))
}

const dated = (entry: z.infer<typeof entryForm>): DriveEntry => ({
  ...entry,
  mtime: entry.mtime === undefined ? undefined : instant(entry.mtime),
})

/** @throws Failure 'broken' */
export function inForm<Value>(form: z.ZodType<Value>, text: string): Value {
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
