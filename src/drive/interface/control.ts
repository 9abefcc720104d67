// Control calls of a running drive, one table: what is asked and what is answered, checked at both ends of the socket, because their versions may differ. The transport is not known here.
import * as z from 'zod'

const texts = z.array(z.string())
const nothing = z.object({})
/** Paths are the drive's, with a leading slash. */
const onPath = z.object({ path: z.string() })
/** A draft by what a person wrote: its name in `.calcfs/drafts/`, and where that may be a path, the path on the drive. */
const namedDraft = z.object({ name: z.string(), path: z.string().optional() })
const savedDraft = z.object({ name: z.string(), record: z.string() })

const draftLine = z.object({
  /** As in `.calcfs/drafts/`. */
  name: z.string(),
  record: z.string(),
  /** Where it stands on the drive; undefined where that is not known. */
  path: z.string().optional(),
  /** editing, not-saved, refused (by the service), conflict, sending, in-flight, outcome-unknown. */
  state: z.string(),
  since: z.string(),
  size: z.number(),
  why: z.string().optional(),
  whatToDo: z.string().optional(),
  /** Of another mount, which alone saves it or gives it up. */
  process: z.number().optional(),
})

const historyLine = z.object({
  /** It names this text for as long as it is kept. */
  number: z.number(),
  /** When it was met in that way (saved, read, replaced). */
  at: z.string(),
  how: z.string(),
  stored: z.boolean(),
  /** The mount point; undefined where that is not known. */
  mount: z.string().optional(),
  /** The difference to the service's text before, in one line. */
  changed: z.string(),
  /** It says what the record says now. */
  isNow: z.boolean(),
  size: z.number(),
})

const amounts = { files: z.number(), filesKept: z.number(), bytes: z.number(), bytesKept: z.number() }

/** How much of the files that are known is on this disk. */
const keptShare = z.object({
  is: z.enum(['whole', 'part', 'not', 'unknown']),
  ...amounts,
  /** Directories below of which no files are known. */
  unlisted: z.number().optional(),
})

/** A path and what it stands for; what is not known is left out. */
const pathInfo = z.object({
  /** Of the drive, links followed. */
  path: z.string(),
  kind: z.string(),
  id: z.string().optional(),
  title: z.string().optional(),
  owner: z.string().optional(),
  created: z.string().optional(),
  modified: z.string().optional(),
  /** As the platform's web pages show it. */
  web: z.string().optional(),
  size: z.number().optional(),
  cached: keptShare.optional(),
  pinned: z.string().optional(),
  draft: z.string().optional(),
  /** Why what is known of it is old. */
  stale: z.string().optional(),
})

const pinLine = z.object({
  path: z.string(),
  kind: z.string(),
  id: z.string().optional(),
  since: z.string(),
  /**
   * looking: what belongs to it is being found out. fetching: files are on their way. whole: all of it is here. waiting: the
   * service is away, or another mount fetches it; it goes on by itself. incomplete: some of it cannot be had. gone: the
   * service has it no more.
   */
  state: z.enum(['looking', 'fetching', 'whole', 'waiting', 'incomplete', 'gone']),
  because: z.string().optional(),
  ...amounts,
})

/** The status of a drive: what `.calcfs/status.json` says and the commands read, perhaps of a daemon of another version. */
const statusForm = z.looseObject({
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
  otherThings: z.number().optional(),
  unsent: z.array(draftLine),
  deleting: z.array(z.looseObject({ path: z.string(), what: z.string(), since: z.string() })),
  /** Files among the reports that never reach the service. */
  keptHere: z.array(z.string()),
  removedInVain: z.array(z.string()),
  places: z.array(z.string()),
  pins: z.array(pinLine.extend({ state: z.string() })),
  state: z.string(),
})

const draftFact = z.object({
  record: z.string(),
  state: z.string(),
  since: z.string(),
  why: z.string().optional(),
})

/** The activity of a drive. Counts are those since the mount. */
const activityPicture = z.object({
  mountPoint: z.string(),
  service: z.string(),
  user: z.string(),
  at: z.string(),
  since: z.string(),
  /** Why the service counts as away, and why the sign-in has ended, where they have. */
  awayBecause: z.string().optional(),
  signedOutBecause: z.string().optional(),
  calls: z.array(
    z.object({ verb: z.string(), count: z.number(), failed: z.number(), milliseconds: z.number() }),
  ),
  /** Calls that wait for their answer, the longest first. */
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
      milliseconds: z.number(),
    }),
  ),
  requestsUnderWay: z.number(),
  received: z.number(),
  downloads: z.array(z.object({ name: z.string(), arrived: z.number(), length: z.number().optional() })),
  /** Edits on their way to the service, and edits that wait. */
  saves: z.array(draftFact),
  waiting: z.array(draftFact),
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

const healthLine = z.object({ isHealthy: z.boolean(), why: z.string() })

/** Something that an explicit wish may delete. */
const deletableItem = z.object({
  path: z.string(),
  kind: z.enum(['calculation', 'project', 'report', 'share']),
  id: z.string(),
  title: z.string(),
  /** Of a share. */
  project: z.string().optional(),
  files: z.number().optional(),
  /** The known reports in whose lists a calculation stands. */
  reports: texts,
})

/** By name. Everything here is printed by `--json` as it is: moments in ISO 8601, durations in milliseconds, sizes in bytes, ids as texts. */
export const controlCalls = {
  /** The present text of `.calcfs/status.json`. `check`: after a question to the service, which ends soon. */
  status: { ask: z.object({ check: z.boolean().optional() }), answer: statusForm },
  /** Why something failed there; not wrong where nothing is known to be, and the sentences say so then. */
  why: { ask: onPath, answer: z.object({ wrong: z.boolean(), sentences: texts }) },
  /** The next question about it goes to the service. `stale`: why what was known before is still shown. */
  refresh: { ask: onPath, answer: z.object({ stale: z.string().optional() }) },
  drafts: { ask: nothing, answer: z.array(draftLine) },
  places: { ask: nothing, answer: texts },
  show: { ask: namedDraft, answer: z.object({ base64: z.string() }) },
  /** `against`: what the service has now, what it had at the conflict, or nothing. */
  diff: {
    ask: namedDraft,
    answer: z.object({
      name: z.string(),
      against: z.enum(['service', 'theirs', 'nothing']),
      other: z.string(),
      mine: z.string(),
    }),
  },
  /** `again`: although a record may have been made of it already. */
  send: { ask: namedDraft.extend({ again: z.boolean() }), answer: savedDraft },
  /** `mayBeStored`: it was sent, and its end is not known. `kept`: the file in which the text can still be found. `next`: another text of the record, which waits. */
  drop: {
    ask: namedDraft,
    answer: savedDraft.extend({
      mayBeStored: z.boolean(),
      kept: z.string().optional(),
      next: z.string().optional(),
    }),
  },
  /** The texts that are kept of a record, the latest first. `unsaved`: the file shows a text that is not saved. */
  history: {
    ask: onPath,
    answer: z.object({ record: z.string(), unsaved: z.boolean(), versions: z.array(historyLine) }),
  },
  /** One of them, or the present text where no number is given; `isPlain`: without what the service sets by itself. */
  historyText: {
    ask: onPath.extend({ number: z.number().optional(), isPlain: z.boolean() }),
    answer: z.object({ text: z.string(), stored: z.boolean() }),
  },
  /** Saves one of them again, over what the service has now. */
  restore: {
    ask: onPath.extend({ number: z.number() }),
    answer: z.object({ record: z.string(), changed: z.string() }),
  },
  /** The contents kept on this disk, and the downloads under way; drafts and the like are no part of it. */
  cacheInfo: {
    ask: nothing,
    answer: z.object({
      directory: z.string(),
      files: z.number(),
      bytes: z.number(),
      limitBytes: z.number(),
      downloads: z.number(),
    }),
  },
  /** `pinned`: how many files stay, because pins keep them. */
  cacheClear: {
    ask: nothing,
    answer: z.object({ files: z.number(), bytes: z.number(), pinned: z.number() }),
  },
  /** `damaged` is removed, and the next read downloads it again; `swept`: parts that dead processes left. */
  cacheVerify: {
    ask: nothing,
    answer: z.object({ checked: z.number(), damaged: z.number(), swept: z.number() }),
  },
  info: { ask: onPath, answer: pathInfo },
  /** At a path of the web pages a project and a calculation may stand, or nothing. */
  resolve: {
    ask: onPath,
    answer: z.array(z.object({ kind: z.enum(['project', 'calculation']), id: z.string() })),
  },
  /** Keeps a subtree whole on this disk from now on; what it needs is fetched in the background. */
  pin: { ask: onPath, answer: pinLine },
  unpin: { ask: onPath, answer: pinLine },
  pins: { ask: nothing, answer: z.array(pinLine) },
  activity: { ask: nothing, answer: activityPicture },
  metrics: { ask: nothing, answer: z.object({ text: z.string() }) },
  /** True if programs can work on the drive as they expect. */
  health: { ask: nothing, answer: healthLine },
  addReport: { ask: z.object({ id: z.string() }), answer: z.object({ title: z.string() }) },
  /** Replaces the list of a report by ids or paths. Not `shown`: only the service's answer says that it was set. */
  setReport: {
    ask: z.object({ id: z.string(), entries: texts }),
    answer: z.object({ order: texts, shown: z.boolean() }),
  },
  /** Without entries the order is that of the unsent draft. The formulas before and after are lines for people. */
  renumber: {
    ask: z.object({ id: z.string(), entries: texts.optional() }),
    answer: z.object({ order: texts, before: texts, after: texts }),
  },
  /** The things at these paths that would go with them. Nothing is changed. */
  deletion: { ask: z.object({ paths: texts }), answer: z.array(deletableItem) },
  /** Deletes one of them at once, if it is still as it was shown. */
  delete: { ask: z.object({ thing: deletableItem }), answer: nothing },
} as const

/** A form's value, which its receiver does not change. */
export type Told<Form extends z.ZodType> = Constant<z.infer<Form>>
type Constant<Value> = Value extends number
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Constant<Item>[]
    : Value extends object
      ? { readonly [Field in keyof Value]: Constant<Value[Field]> }
      : Value

export type CallName = keyof typeof controlCalls
export type CallArgument<Name extends CallName> = Told<(typeof controlCalls)[Name]['ask']>
export type CallResult<Name extends CallName> = Told<(typeof controlCalls)[Name]['answer']>

/** Every call rejects with a Failure. */
export type Control = {
  readonly [Name in CallName]: (asked: CallArgument<Name>) => Promise<CallResult<Name>>
}

export type NamedDraft = Told<typeof namedDraft>
export type Status = CallResult<'status'>
export type DraftLine = Told<typeof draftLine>
export type Comparison = CallResult<'diff'>
export type HistoryLine = Told<typeof historyLine>
export type KeptShare = Told<typeof keptShare>
export type PathInfo = Told<typeof pathInfo>
export type PinLine = Told<typeof pinLine>
export type ActivityPicture = Told<typeof activityPicture>
export type HealthLine = Told<typeof healthLine>
export type DeletableItem = Told<typeof deletableItem>
