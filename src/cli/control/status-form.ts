// Schema of a drive's status, as a command reads it: from another process, and perhaps another version.
import * as z from 'zod'
import { Failure } from '../../failure.js'

const statusForm = z.looseObject({
  service: z.string(),
  user: z.string(),
  mountPoint: z.string(),
  access: z.string(),
  pid: z.number(),
  /** The socket for the command line. */
  control: z.string().optional(),
  at: z.string(),
  since: z.string(),
  top: z.string(),
  answers: z.boolean(),
  awaySince: z.string().optional(),
  awayBecause: z.string().optional(),
  signedIn: z.boolean().optional(),
  signedOutSince: z.string().optional(),
  signedOutBecause: z.string().optional(),
  /** The end of the token, and whether a password renews it. */
  signedInUntil: z.string().optional(),
  signInRenewed: z.boolean().optional(),
  /** Operations that the instance is known to lack. */
  lacking: z.array(z.string()),
  requests: z.number(),
  /** Response time of the user request. */
  answersInMs: z.number().optional(),
  /** Whether the kernel is told of changes. */
  kernel: z.string().optional(),
  /** Absent where the drive shares nothing. */
  fleet: z
    .looseObject({
      address: z.string(),
      mounts: z.number(),
      saved: z.number(),
      asked: z.number(),
      passedByBecause: z.string().optional(),
    })
    .optional(),
  /** The number of ids that stand for other things than before. */
  otherThings: z.number().optional(),
  unsent: z.array(
    z.looseObject({
      name: z.string().optional(),
      record: z.string(),
      path: z.string().optional(),
      state: z.string(),
      why: z.string().optional(),
    }),
  ),
  /** Deletions that wait. */
  deleting: z.array(z.looseObject({ path: z.string(), what: z.string(), since: z.string() })),
  /** Files among the reports that never reach the service. */
  keptHere: z.array(z.string()),
  removedInVain: z.array(z.string()),
  /** Problems with the drive's own directories. */
  places: z.array(z.string()),
  /** What is kept whole on this disk. */
  pins: z.array(
    z.looseObject({
      path: z.string(),
      state: z.string(),
      because: z.string().optional(),
      files: z.number(),
      filesKept: z.number(),
      bytes: z.number(),
      bytesKept: z.number(),
    }),
  ),
  state: z.string(),
})
export type Status = z.infer<typeof statusForm>

/** @throws Failure 'broken' for an invalid status */
export function statusIn(text: string): Status {
  try {
    return statusForm.parse(JSON.parse(text))
  } catch (cause) {
    throw new Failure(
      'broken',
      'the drive reports its status in another form than this version of calcfs expects; unmount and mount it again',
      { cause },
    )
  }
}
