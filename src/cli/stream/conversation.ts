// What all talks with a daemon have: which drive is meant, signs of life, and the form of failures.
import * as z from 'zod'
import { Failure, type FailureKind } from '../../failure.js'

/** Where a daemon listens, and which drive is meant. */
export interface DrivePlace {
  readonly socketPath: string
  readonly device: string
}

/** The header of a call that names the kernel's device number of the drive that is meant. */
export const mountHeader = 'calcfs-mount'

/** Milliseconds between two signs of life. */
export const signOfLifeEvery = 1000
/** Milliseconds of silence after which a daemon counts as hanging: with the start of the command about three seconds. */
export const longestSilence = 2500
/** The same for a daemon that has answered this command already, in the middle of a tree or of a copy. */
export const longestSilenceLater = 20_000

/** The transferred form of a failure: what its message and its exit code need. */
export const failureForm = z.object({
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
export const failureIn = ({ kind, sentence, said, place }: z.infer<typeof failureForm>): Failure =>
  new Failure(kind as FailureKind, sentence, { said, place })
