// Options of a service: data directory, listener, and which optional features it lacks.

/** Features that this instance lacks; real instances differ in each of them. */
export interface Shortcomings {
  /** HEAD answers 405. */
  readonly head: boolean
  /** A Range header is ignored: the answer is 200 with everything. */
  readonly range: boolean
  /** Content goes out chunked, without its length. */
  readonly contentLength: boolean
  /** `/db/<user>` has no id: it does not resolve, and no record states the id. */
  readonly root: boolean
  /** File lists are written `[a.in, output.cml]`. */
  readonly unquotedLists: boolean
  /** A thing that the caller may not see is answered 404, not 403. */
  readonly hide: boolean
  /** `/report/types` is unknown; `/report-type` answers. */
  readonly onlyReportType: boolean
  /** Only the nine paths of the platform's public listing answer. */
  readonly onlyNinePaths: boolean
  /** Items of a listing carry their id and name and nothing else. */
  readonly bareListings: boolean
  /** Setting the list of a report forgets the titles of its rows. */
  readonly loseRowTitles: boolean
  /** Names and titles are stored with underscores for blanks. */
  readonly ownSpelling: boolean
  /** The answer of GET /report for an unknown id. */
  readonly missingReport: MissingReport
}
export type MissingReport = '400' | '404' | 'null'

const every = (isLacking: boolean): Shortcomings => ({
  head: isLacking,
  range: isLacking,
  contentLength: isLacking,
  root: isLacking,
  unquotedLists: isLacking,
  hide: isLacking,
  onlyReportType: isLacking,
  onlyNinePaths: false,
  bareListings: isLacking,
  loseRowTitles: isLacking,
  ownSpelling: isLacking,
  missingReport: '400',
})

/** Exactly the API document: every feature is there. */
export const complete = every(false)

/** Every feature missing at once, of an instance with all paths; a missing report is still the documented 400. */
export const poor = every(true)

/** One answered request. `bytes` are those written to the connection, head included; `ms` is the time to the last. */
export interface Access {
  readonly time: string
  readonly method: string
  /** Path and query as received. */
  readonly url: string
  readonly status: number
  readonly bytes: number
  readonly ms: number
  readonly user: string | null
}

export interface ServiceOptions {
  /** The directory of the database, the contents and the secret; made, 0700, if it is not there. */
  readonly data: string
  /** 127.0.0.1 if not given. */
  readonly host?: string
  /** 0, any free port, if not given. */
  readonly port?: number
  readonly shortcomings?: Partial<Shortcomings>
  /** Milliseconds before a request is processed; 0 if not given. */
  readonly latency?: number
  /** Seconds a token is good for; the document's 24 hours if not given. */
  readonly tokenLifetime?: number
  /** Milliseconds since 1970; the machine's clock if not given. */
  readonly now?: () => number
  /** Called for each answered request once its last byte is sent. */
  readonly onAnswer?: (access: Access) => void
  /** Called for each request as it arrives; the request waits for the promise. */
  readonly onArrival?: (method: string, url: string) => void | Promise<void>
}
