// Options of a service: data directory, listener, and which optional features it lacks.

/** Features that an instance may lack; real ones differ in each of them. With the flag of `calcfs serve`, and what it means. */
export const switches = {
  head: ['--no-head', 'HEAD answers 405'],
  range: ['--no-range', 'a Range header is ignored'],
  contentLength: ['--no-content-length', 'content is sent without its length'],
  root: ['--no-root', '/db/<user> has no id'],
  unquotedLists: ['--unquoted-lists', 'file lists are written [a.in, output.cml]'],
  hide: ['--hide', '404 instead of 403 for what the caller has no right to see'],
  onlyReportType: ['--only-report-type', '404 on /report/types'],
  onlyNinePaths: [
    '--only-nine-paths',
    "what the platform's public listing names: 404 on /user/info, /navigation/path/resolve, /project/share, /calculation/xyz and /report/types",
  ],
  bareListings: ['--bare-listings', 'listings say id and name only'],
  loseRowTitles: ['--lose-row-titles', "setting a report's list forgets the titles of its rows"],
  ownSpelling: ['--own-spelling', 'names and titles are stored with underscores for blanks'],
} as const

export type Switch = keyof typeof switches
export const switchNames = Object.keys(switches) as readonly Switch[]

export interface Shortcomings extends Readonly<Record<Switch, boolean>> {
  /** The answer of GET /report for an unknown id. */
  readonly missingReport: MissingReport
}
export type MissingReport = '400' | '404' | 'null'

function every(isLacking: boolean): Shortcomings {
  const lacks = switchNames.map(name => [name, isLacking && name !== 'onlyNinePaths'])
  return { ...(Object.fromEntries(lacks) as Record<Switch, boolean>), missingReport: '400' }
}

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
  readonly now?: () => number
  /** Called for each answered request once its last byte is sent. */
  readonly onAnswer?: (access: Access) => void
  /** Called for each request as it arrives; the request waits for the promise. */
  readonly onArrival?: (method: string, url: string) => void | Promise<void>
}
