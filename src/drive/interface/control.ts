// Interface of the control operations of a running drive, by name; the transport is not known here.

/** By name: what is asked, and what is answered. Everything here survives JSON. */
export interface ControlCalls {
  /** The text of `.calcfs/status.json`, as it is now. `check`: after a question to the service, which ends soon. */
  readonly status: {
    readonly ask: { readonly check?: boolean | undefined }
    readonly answer: { readonly text: string }
  }
  /** Why something failed there. Paths are the drive's, with a leading slash. */
  readonly why: { readonly ask: { readonly path: string }; readonly answer: Explanation }
  /** The next question about it goes to the service. */
  readonly refresh: { readonly ask: { readonly path: string }; readonly answer: Refreshed }
  readonly drafts: { readonly ask: Record<string, never>; readonly answer: readonly DraftLine[] }
  /** What is wrong with the mount's own directories, in sentences. */
  readonly places: { readonly ask: Record<string, never>; readonly answer: readonly string[] }
  readonly show: { readonly ask: NamedDraft; readonly answer: { readonly base64: string } }
  readonly diff: { readonly ask: NamedDraft; readonly answer: Comparison }
  /** `again`: although a record may have been made of it already. */
  readonly send: {
    readonly ask: NamedDraft & { readonly again: boolean }
    readonly answer: { readonly name: string; readonly record: string }
  }
  readonly drop: { readonly ask: NamedDraft; readonly answer: DroppedDraft }
  /** The texts that are kept of a record, the latest first. */
  readonly history: { readonly ask: { readonly path: string }; readonly answer: RecordHistory }
  /** One of them, or the present text where no number is given; `isPlain`: without what the service sets by itself. */
  readonly historyText: {
    readonly ask: {
      readonly path: string
      readonly number?: number | undefined
      readonly isPlain: boolean
    }
    readonly answer: { readonly text: string } & Pick<HistoryLine, 'stored'>
  }
  /** Saves one of them again, over what the service has now. */
  readonly restore: {
    readonly ask: { readonly path: string; readonly number: number }
    readonly answer: { readonly record: string; readonly changed: string }
  }
  /** The contents kept on this disk; drafts and the like are no part of it. */
  readonly cacheInfo: { readonly ask: Record<string, never>; readonly answer: CacheInfo }
  /** `path`: of what is known to lie there alone. `pinned`: also what pins keep; how many files they keep is answered else. */
  readonly cacheClear: {
    readonly ask: { readonly path?: string | undefined; readonly pinned?: boolean | undefined }
    readonly answer: { readonly files: number; readonly bytes: number; readonly pinned?: number | undefined }
  }
  /** What is known of a path. */
  readonly info: { readonly ask: { readonly path: string }; readonly answer: PathInfo }
  /** At a path of the web pages a project and a calculation may stand, or nothing. */
  readonly resolve: {
    readonly ask: { readonly path: string }
    readonly answer: readonly { readonly kind: 'project' | 'calculation'; readonly id: string }[]
  }
  /** Keeps a subtree whole on this disk from now on; what it needs is fetched in the background. */
  readonly pin: { readonly ask: { readonly path: string }; readonly answer: PinLine }
  readonly unpin: { readonly ask: { readonly path: string }; readonly answer: PinLine }
  readonly pins: { readonly ask: Record<string, never>; readonly answer: readonly PinLine[] }
  /** What the mounts of this fleet share; undefined where the mount shares nothing. */
  readonly fleet: {
    readonly ask: Record<string, never>
    readonly answer: { readonly fleet?: FleetReport | undefined }
  }
  /** Drops what lies in the fleet, of every user. */
  readonly fleetClear: { readonly ask: Record<string, never>; readonly answer: { readonly values: number } }
  /** What goes on in the drive now, and what has since it was mounted. */
  readonly activity: { readonly ask: Record<string, never>; readonly answer: ActivityPicture }
  /** The metrics as Prometheus reads them. */
  readonly metrics: { readonly ask: Record<string, never>; readonly answer: { readonly text: string } }
  /** Whether programs can work on the drive as they expect. */
  readonly health: { readonly ask: Record<string, never>; readonly answer: HealthLine }
  /** The lines of the log after that number, as they were written; those after 0 are all that are kept. */
  readonly log: { readonly ask: { readonly after: number }; readonly answer: LogLines }
  readonly cacheVerify: {
    readonly ask: { readonly path?: string | undefined }
    readonly answer: CacheChecked
  }
  readonly addReport: { readonly ask: { readonly id: string }; readonly answer: { readonly title: string } }
  /** Replaces the list of a report; entries are ids or paths. */
  readonly setReport: {
    readonly ask: { readonly id: string; readonly entries: readonly string[] }
    readonly answer: ListSet
  }
  /** Without entries the order is that of the unsent draft. */
  readonly renumber: {
    readonly ask: { readonly id: string; readonly entries?: readonly string[] | undefined }
    readonly answer: NewOrder
  }
  /** What stands at these paths and would go with them. Nothing is changed. */
  readonly deletion: {
    readonly ask: { readonly paths: readonly string[] }
    readonly answer: readonly DeletableItem[]
  }
  /** Deletes one of them at once, if it is still as it was shown. */
  readonly delete: { readonly ask: { readonly thing: DeletableItem }; readonly answer: Record<string, never> }
}

export type CallName = keyof ControlCalls
export type CallArgument<Name extends CallName> = ControlCalls[Name]['ask']
export type CallResult<Name extends CallName> = ControlCalls[Name]['answer']

/** Every call rejects with a Failure. */
export type Control = {
  readonly [Name in CallName]: (asked: CallArgument<Name>) => Promise<CallResult<Name>>
}

export interface RecordHistory {
  /** Where the record stands. */
  readonly record: string
  /** The file shows a text that is not saved. */
  readonly unsaved: boolean
  readonly versions: readonly HistoryLine[]
}

export interface HistoryLine {
  /** It names this text for as long as it is kept. */
  readonly number: number
  /** When it was met in that way (saved, read, replaced), in milliseconds since 1970. */
  readonly at: number
  readonly how: string
  /** Whether the service is known to have had it; undefined where an older daemon answers. */
  readonly stored?: boolean | undefined
  /** The mount point; undefined where that is not known. */
  readonly mount?: string | undefined
  /** What differs from the one before that the service had, in one line. */
  readonly changed: string
  /** It says what the record says now. */
  readonly isNow: boolean
  /** In bytes. */
  readonly size: number
}

export interface CacheInfo {
  readonly directory: string
  readonly files: number
  /** Bytes, on disk. */
  readonly bytes: number
  readonly limitBytes: number
  /** Downloads that are under way. */
  readonly downloads: number
  /** Each project of which anything is kept; undefined where an older daemon answers. */
  readonly projects?: readonly CachedProject[] | undefined
}

export interface CachedProject {
  readonly id: string
  /** Its title and those above it. */
  readonly path: string
  /** Of the calculations in it; a project below it has a line of its own. */
  readonly files: number
  readonly bytes: number
  readonly pinned: boolean
}

/** A path and what it stands for; what is not known is left out. Sizes are in bytes. */
export interface PathInfo {
  /** Of the drive, links followed. */
  readonly path: string
  readonly kind: string
  readonly id?: string | undefined
  readonly title?: string | undefined
  readonly owner?: string | undefined
  /** Milliseconds since 1970. */
  readonly created?: number | undefined
  readonly modified?: number | undefined
  /** As the platform's web pages show it. */
  readonly web?: string | undefined
  readonly size?: number | undefined
  readonly cached?: KeptShare | undefined
  /** The path of the pin that keeps it. */
  readonly pinned?: string | undefined
  /** The state of its unsaved text. */
  readonly draft?: string | undefined
  /** Why what is known of it is old. */
  readonly stale?: string | undefined
}

/** How much of the files that are known is on this disk; `unlisted` are directories below of which none are known. */
export interface KeptShare {
  readonly is: 'whole' | 'part' | 'not' | 'unknown'
  readonly files: number
  readonly filesKept: number
  /** Files whose sizes are not known here: the bytes are those of the others. */
  readonly filesUnsized: number
  readonly bytes: number
  readonly bytesKept: number
  readonly unlisted?: number | undefined
}

/** What is kept whole on this disk. */
export interface PinLine extends Omit<KeptShare, 'is' | 'filesUnsized'> {
  readonly path: string
  readonly kind: string
  readonly id?: string | undefined
  /** Milliseconds since 1970. */
  readonly since: number
  readonly state: 'looking' | 'fetching' | 'whole' | 'waiting' | 'incomplete' | 'gone'
  /** Why it is not whole. */
  readonly because?: string | undefined
}

/** What goes on in a drive. Counts are those since the mount; times are in milliseconds, dates in milliseconds since 1970. */
export interface ActivityPicture {
  readonly mountPoint: string
  readonly service: string
  readonly user: string
  readonly at: number
  readonly since: number
  /** Why the service counts as away, and why the sign-in has ended, where they have. */
  readonly awayBecause?: string | undefined
  readonly signedOutBecause?: string | undefined
  /** Calls of the kernel by verb. */
  readonly calls: readonly {
    readonly verb: string
    readonly count: number
    readonly failed: number
    readonly seconds: number
  }[]
  /** Calls that wait for their answer, the longest first. */
  readonly underWay: readonly {
    readonly verb: string
    readonly path: string
    readonly milliseconds: number
    readonly waitsFor?: string | undefined
  }[]
  readonly requests: readonly {
    readonly method: string
    readonly endpoint: string
    readonly outcomes: Readonly<Record<string, number>>
    readonly seconds: number
  }[]
  readonly requestsUnderWay: number
  /** Bytes that the service has sent. */
  readonly received: number
  readonly downloads: readonly {
    readonly name: string
    readonly arrived: number
    readonly length?: number | undefined
  }[]
  /** Edits on their way to the service, and edits that wait. */
  readonly saves: readonly DraftFact[]
  readonly waiting: readonly DraftFact[]
  readonly cache: {
    readonly answersKnown: number
    readonly answersAsked: number
    readonly bytesKept: number
    readonly bytesArriving: number
    readonly readsKept: number
    readonly readsArriving: number
    readonly files: number
    readonly bytes: number
    readonly limitBytes: number
  }
  readonly foreseen: { readonly used: number; readonly wasted: number; readonly waiting: number }
}

export interface DraftFact {
  readonly record: string
  readonly state: string
  readonly since: number
  readonly why?: string | undefined
}

export interface HealthLine {
  readonly isHealthy: boolean
  readonly why: string
  readonly trouble?: 'unsaved' | 'signed-out' | 'away' | undefined
}

export interface LogLines {
  readonly lines: readonly string[]
  /** What to ask for next. */
  readonly next: number
  /** Where the whole log goes; undefined where it goes to a terminal or to nothing. */
  readonly file?: string | undefined
}

/** A fleet as one of its mounts sees it. */
export interface FleetReport {
  readonly address: string
  /** Why it is passed by. */
  readonly away?: string | undefined
  /** Of all mounts that share it now. */
  readonly nodes: readonly FleetNodeReport[]
  /** Undefined where its user may not ask. */
  readonly server?: FleetServerReport | undefined
}

/** Of a cluster, one of its masters. */
export interface FleetServerReport {
  readonly version: string
  readonly usedBytes: number
  /** 0: none. */
  readonly limitBytes: number
  readonly policy: string
  readonly isCluster: boolean
}

export interface FleetNodeReport {
  readonly host: string
  readonly pid: number
  /** Questions that were answered from the fleet: requests saved. */
  readonly hits: number
  /** Questions that it asked the service for all. */
  readonly asked: number
  readonly received: number
  readonly sent: number
  /** Values that were damaged or forged, and not used. */
  readonly wrong: number
}

export interface CacheChecked {
  readonly checked: number
  /** Not what was downloaded: they are removed, and the next read downloads them again. */
  readonly damaged: number
  /** Parts that dead processes left. */
  readonly swept: number
}

export interface Explanation {
  /** False where nothing is known to be wrong; the sentences say so then. */
  readonly wrong: boolean
  readonly sentences: readonly string[]
}

export interface Refreshed {
  /** Why what was known before is still shown, where the service does not answer. */
  readonly stale?: string | undefined
}

/** A draft by what a person wrote: its name in `.calcfs/drafts/`, and where that may be a path, the path on the drive. */
export interface NamedDraft {
  readonly name: string
  readonly path?: string | undefined
}

export interface DraftLine {
  /** As in `.calcfs/drafts/`. */
  readonly name: string
  readonly record: string
  /** Where it stands on the drive; undefined where that is not known. */
  readonly path?: string | undefined
  /** editing, not-saved, refused (by the service), conflict, sending, in-flight, outcome-unknown, paused. */
  readonly state: string
  /** When its text changed last, in milliseconds since 1970. */
  readonly since: number
  /** In bytes. */
  readonly size: number
  readonly why?: string | undefined
}

export interface Comparison {
  readonly name: string
  /** What the draft is held against: what the service has now, what it had at the conflict, or nothing. */
  readonly against: 'service' | 'theirs' | 'nothing'
  readonly other: string
  readonly mine: string
}

export interface DroppedDraft {
  readonly name: string
  readonly record: string
  /** It was sent, and whether the service has stored it is not known yet. */
  readonly mayBeStored: boolean
  /** The file in which the text can still be found; undefined where it is gone. */
  readonly kept?: string | undefined
}

export interface ListSet {
  /** The ids as they stand now. */
  readonly order: readonly string[]
  /** False where the service does not show the list: then only its answer says that it was set. */
  readonly shown: boolean
}

export interface NewOrder {
  readonly order: readonly string[]
  /** The formulas before and after, each a line for people. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Something that an explicit wish may delete. */
export interface DeletableItem {
  readonly path: string
  readonly kind: 'calculation' | 'project' | 'report' | 'share'
  readonly id: string
  readonly title: string
  /** Of a share. */
  readonly project?: string | undefined
  /** How many files a calculation has. */
  readonly files?: number | undefined
  /** The known reports in whose lists a calculation stands. */
  readonly reports: readonly string[]
}
