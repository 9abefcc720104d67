// Protocol between a command and a daemon: HTTP on a private socket, a POST for each question of the table; how an answer ends is in its trailer.
import * as z from 'zod'
import { driveEntry, type TreeItem } from '../../drive/interface/reader.js'
import { Failure, type FailureKind } from '../../failure.js'

/** The header of a call that names the kernel's device number of the drive that is meant. */
export const mountHeader = 'calcfs-mount'
/** Trailers: of an answer that failed, and the facts of a file behind its bytes. */
export const failureTrailer = 'calcfs-failure'
export const factsTrailer = 'calcfs-facts'

/** The transferred form of a failure: what its message and its exit code need. An unknown kind of another version is no bug here. */
const failureForm = z
  .object({ kind: z.string(), sentence: z.string(), said: z.string().optional() })
  .transform(({ kind, sentence, said }) => new Failure(kind as FailureKind, sentence, { said }))

export const failureParts = ({ kind, message, said }: Failure): z.input<typeof failureForm> => ({
  kind,
  sentence: message,
  said,
})

/** Of a tree: a line for each batch. */
const itemsForm = z.array(z.union([driveEntry, z.object({ path: z.string(), failure: failureForm })]))

export const printItems = (items: readonly TreeItem[]): string =>
  `${JSON.stringify(items.map(item => ('failure' in item ? { ...item, failure: failureParts(item.failure) } : item)))}\n`

export const readItems = (line: string): readonly TreeItem[] => inForm(itemsForm, line)

/** A trailer takes neither line ends nor letters beyond ASCII. */
export const inTrailer = (facts: unknown): string => Buffer.from(JSON.stringify(facts)).toString('base64')
export const outOfTrailer = (text: string): string => Buffer.from(text, 'base64').toString()

export const failureOf = (trailer: string): Failure => inForm(failureForm, outOfTrailer(trailer))

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
