// Schema of a drive's activity, as `calcfs top` reads it from the control socket.
import * as z from 'zod'

const draft = z.object({
  record: z.string(),
  state: z.string(),
  since: z.number(),
  why: z.string().optional(),
})

export const activityForm = z.object({
  mountPoint: z.string(),
  service: z.string(),
  user: z.string(),
  at: z.number(),
  since: z.number(),
  awayBecause: z.string().optional(),
  signedOutBecause: z.string().optional(),
  calls: z.array(z.object({ verb: z.string(), count: z.number(), failed: z.number(), seconds: z.number() })),
  underWay: z.array(
    z.object({
      verb: z.string(),
      path: z.string(),
      milliseconds: z.number(),
      waitsFor: z.string().optional(),
    }),
  ),
  requests: z.array(
    z.object({
      method: z.string(),
      endpoint: z.string(),
      outcomes: z.record(z.string(), z.number()),
      seconds: z.number(),
    }),
  ),
  requestsUnderWay: z.number(),
  received: z.number(),
  downloads: z.array(z.object({ name: z.string(), arrived: z.number(), length: z.number().optional() })),
  saves: z.array(draft),
  waiting: z.array(draft),
  cache: z.object({
    answersKnown: z.number(),
    answersAsked: z.number(),
    bytesKept: z.number(),
    bytesArriving: z.number(),
    readsKept: z.number(),
    readsArriving: z.number(),
    files: z.number(),
    bytes: z.number(),
    limitBytes: z.number(),
  }),
  foreseen: z.object({ used: z.number(), wasted: z.number(), waiting: z.number() }),
})
