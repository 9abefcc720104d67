// Protocol of the control socket: JSON, checked at both ends, because their versions may differ.
import * as z from 'zod'
import type { CallArgument, CallName, CallResult } from '../../drive/interface/control.js'
import { Failure } from '../../failure.js'
import { failureForm, failureIn, failureParts } from '../stream/conversation.js'
import { activityForm } from './activity-form.js'

type Forms = {
  readonly [Name in CallName]: {
    readonly ask: z.ZodType<CallArgument<Name>>
    readonly answer: z.ZodType<CallResult<Name>>
  }
}

const texts = z.array(z.string())
const onPath = z.object({ path: z.string() })
const onDraft = z.object({ name: z.string(), path: z.string().optional() })

const doomed = z.object({
  path: z.string(),
  kind: z.enum(['calculation', 'project', 'report', 'share']),
  id: z.string(),
  title: z.string(),
  project: z.string().optional(),
  files: z.number().optional(),
  reports: texts,
})

const fleetReport = z.object({
  address: z.string(),
  away: z.string().optional(),
  nodes: z.array(
    z.object({
      host: z.string(),
      pid: z.number(),
      hits: z.number(),
      asked: z.number(),
      received: z.number(),
      sent: z.number(),
      wrong: z.number(),
    }),
  ),
  server: z
    .object({
      version: z.string(),
      usedBytes: z.number(),
      limitBytes: z.number(),
      policy: z.string(),
      isCluster: z.boolean(),
    })
    .optional(),
})

const amounts = {
  files: z.number(),
  filesKept: z.number(),
  bytes: z.number(),
  bytesKept: z.number(),
}

const pinLine = z.object({
  path: z.string(),
  kind: z.string(),
  id: z.string().optional(),
  since: z.number(),
  state: z.enum(['looking', 'fetching', 'whole', 'waiting', 'incomplete', 'gone']),
  because: z.string().optional(),
  ...amounts,
})

/** Arguments and results of each call. */
export const forms: Forms = {
  status: { ask: z.object({ check: z.boolean().optional() }), answer: z.object({ text: z.string() }) },
  why: { ask: onPath, answer: z.object({ wrong: z.boolean(), sentences: texts }) },
  refresh: { ask: onPath, answer: z.object({ stale: z.string().optional() }) },
  drafts: {
    ask: z.object({}),
    answer: z.array(
      z.object({
        name: z.string(),
        record: z.string(),
        path: z.string().optional(),
        state: z.string(),
        since: z.number(),
        size: z.number(),
        why: z.string().optional(),
      }),
    ),
  },
  places: { ask: z.object({}), answer: texts },
  show: { ask: onDraft, answer: z.object({ base64: z.string() }) },
  diff: {
    ask: onDraft,
    answer: z.object({
      name: z.string(),
      against: z.enum(['service', 'theirs', 'nothing']),
      other: z.string(),
      mine: z.string(),
    }),
  },
  send: {
    ask: onDraft.extend({ again: z.boolean() }),
    answer: z.object({ name: z.string(), record: z.string() }),
  },
  drop: {
    ask: onDraft,
    answer: z.object({
      name: z.string(),
      record: z.string(),
      mayBeStored: z.boolean(),
      kept: z.string().optional(),
    }),
  },
  history: {
    ask: onPath,
    answer: z.object({
      record: z.string(),
      unsaved: z.boolean(),
      versions: z.array(
        z.object({
          number: z.number(),
          at: z.number(),
          how: z.string(),
          stored: z.boolean().optional(),
          mount: z.string().optional(),
          changed: z.string(),
          isNow: z.boolean(),
          size: z.number(),
        }),
      ),
    }),
  },
  historyText: {
    ask: onPath.extend({ number: z.number().optional(), isPlain: z.boolean() }),
    answer: z.object({ text: z.string(), stored: z.boolean().optional() }),
  },
  restore: {
    ask: onPath.extend({ number: z.number() }),
    answer: z.object({ record: z.string(), changed: z.string() }),
  },
  cacheInfo: {
    ask: z.object({}),
    answer: z.object({
      directory: z.string(),
      files: z.number(),
      bytes: z.number(),
      limitBytes: z.number(),
      downloads: z.number(),
      projects: z
        .array(
          z.object({
            id: z.string(),
            path: z.string(),
            files: z.number(),
            bytes: z.number(),
            pinned: z.boolean(),
          }),
        )
        .optional(),
    }),
  },
  cacheClear: {
    ask: z.object({ path: z.string().optional(), pinned: z.boolean().optional() }),
    answer: z.object({ files: z.number(), bytes: z.number(), pinned: z.number().optional() }),
  },
  info: {
    ask: onPath,
    answer: z.object({
      path: z.string(),
      kind: z.string(),
      id: z.string().optional(),
      title: z.string().optional(),
      owner: z.string().optional(),
      created: z.number().optional(),
      modified: z.number().optional(),
      web: z.string().optional(),
      size: z.number().optional(),
      cached: z
        .object({
          is: z.enum(['whole', 'part', 'not', 'unknown']),
          filesUnsized: z.number(),
          ...amounts,
          unlisted: z.number().optional(),
        })
        .optional(),
      pinned: z.string().optional(),
      draft: z.string().optional(),
      stale: z.string().optional(),
    }),
  },
  pin: { ask: onPath, answer: pinLine },
  unpin: { ask: onPath, answer: pinLine },
  pins: { ask: z.object({}), answer: z.array(pinLine) },
  fleet: { ask: z.object({}), answer: z.object({ fleet: fleetReport.optional() }) },
  fleetClear: { ask: z.object({}), answer: z.object({ values: z.number() }) },
  activity: { ask: z.object({}), answer: activityForm },
  metrics: { ask: z.object({}), answer: z.object({ text: z.string() }) },
  health: {
    ask: z.object({}),
    answer: z.object({
      isHealthy: z.boolean(),
      why: z.string(),
      trouble: z.enum(['unsaved', 'signed-out', 'away']).optional(),
    }),
  },
  log: {
    ask: z.object({ after: z.number() }),
    answer: z.object({ lines: texts, next: z.number(), file: z.string().optional() }),
  },
  cacheVerify: {
    ask: z.object({ path: z.string().optional() }),
    answer: z.object({ checked: z.number(), damaged: z.number(), swept: z.number() }),
  },
  resolve: {
    ask: onPath,
    answer: z.array(z.object({ kind: z.enum(['project', 'calculation']), id: z.string() })),
  },
  addReport: { ask: z.object({ id: z.string() }), answer: z.object({ title: z.string() }) },
  setReport: {
    ask: z.object({ id: z.string(), entries: texts }),
    answer: z.object({ order: texts, shown: z.boolean() }),
  },
  renumber: {
    ask: z.object({ id: z.string(), entries: texts.optional() }),
    answer: z.object({ order: texts, before: texts, after: texts }),
  },
  deletion: { ask: z.object({ paths: texts }), answer: z.array(doomed) },
  delete: { ask: z.object({ thing: doomed }), answer: z.object({}) },
}

export const isCall = (name: string): name is CallName => Object.hasOwn(forms, name)

const replyForm = z.union([z.object({ answer: z.unknown() }), z.object({ failure: failureForm })])

export function printAnswer(answer: unknown): string {
  return JSON.stringify({ answer })
}

export function printFailure(failure: Failure): string {
  return JSON.stringify({ failure: failureParts(failure) })
}

/** The answer in a reply. @throws Failure as it was thrown at the other end, 'broken' for an invalid reply */
export function readReply<Name extends CallName>(name: Name, text: string): CallResult<Name> {
  const reply = replyForm.safeParse(jsonIn(text))
  if (!reply.success) throw otherLanguage()
  if ('failure' in reply.data) throw failureIn(reply.data.failure)
  const answer = forms[name].answer.safeParse(reply.data.answer)
  if (!answer.success) throw otherLanguage()
  return answer.data
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw otherLanguage(cause)
  }
}

const otherLanguage = (cause?: unknown): Failure =>
  new Failure(
    'broken',
    'the drive answered in another way than this version of calcfs expects; unmount and mount it again',
    { cause },
  )
