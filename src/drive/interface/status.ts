// Status of a drive: what `.calcfs/status.json` says and the commands read, perhaps of a daemon of another version.
import * as z from 'zod'

export const statusForm = z.looseObject({
  service: z.string(),
  user: z.string(),
  mountPoint: z.string(),
  access: z.string(),
  pid: z.number(),
  control: z.string().optional(),
  /** Undefined where the log goes to the terminal or the journal. */
  logFile: z.string().optional(),
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
  /** `session` or `libfuse`, and why not by the session. */
  kernel: z.string().optional(),
  kernelBecause: z.string().optional(),
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
      whatToDo: z.string().optional(),
    }),
  ),
  deleting: z.array(z.looseObject({ path: z.string(), what: z.string(), since: z.string() })),
  /** Files among the reports that never reach the service. */
  keptHere: z.array(z.string()),
  removedInVain: z.array(z.string()),
  places: z.array(z.string()),
  /** A pin: a thing kept whole on this disk. */
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
