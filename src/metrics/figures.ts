// The one table of metrics: their names, types, labels and help; docs/operations.md and docs/grafana.json name only these.
import { readdirSync } from 'node:fs'
import { cpuUsage, memoryUsage } from 'node:process'
import type { Activity } from '../activity/activity.js'
import type { ActivityPicture } from '../drive/interface/control.js'

export interface MetricSources {
  readonly activity: Activity
  readonly version: string
  /** When the drive was mounted, in milliseconds since 1970. */
  readonly since: number
  now(): number
  readonly drive: { readonly mountPoint: string; readonly service: string; readonly user: string }
  /** The kept files of the content cache. */
  cache(): { readonly files: number; readonly bytes: number; readonly limitBytes: number }
  downloads(): readonly {
    readonly name: string
    readonly arrived: number
    readonly length: number | undefined
  }[]
  /** The edits that wait to be saved, or are on their way. */
  drafts(): ActivityPicture['waiting']
  /** Why the service counts as away, and why the sign-in has ended; undefined where they have not. */
  awayBecause(): string | undefined
  signedOutBecause(): string | undefined
  /** Undefined where the mount shares nothing. */
  fleet(): { readonly saved: number; readonly asked: number; readonly mounts: number } | undefined
}

/** A request of the draft is under way. */
export const isUnderWay = ({ state }: { readonly state: string }): boolean =>
  /^(sending|in-flight)$/.test(state)

/** One measured value with its labels; none of them is a path, a name, a user or a token. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Takes one duration, in seconds. */
type Observe = (labels: Sample['labels'], seconds: number) => void

interface FigureText {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
}

export type Figure = FigureText &
  (
    | { readonly type: 'counter' | 'gauge'; readonly of: (sources: MetricSources) => readonly Sample[] }
    | { readonly type: 'histogram'; readonly watch: (sources: MetricSources, observe: Observe) => void }
  )

/** Upper bounds of the ranges of every histogram, in seconds: from an answer of the memory to the longest deadline. */
export const bounds: readonly number[] = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

const by = (label: string, values: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))

type Value<Of> = (sources: MetricSources) => Of

/** A figure without labels; no sample where there is no value. */
const single =
  (type: 'counter' | 'gauge') =>
  (name: string, help: string, value: Value<number | undefined>): Figure => ({
    type,
    name,
    help,
    labels: [],
    of(sources) {
      const now = value(sources)
      return now === undefined ? [] : [{ labels: {}, value: now }]
    },
  })
const [gauge, counter] = [single('gauge'), single('counter')]

/** A counter for each value of one label. */
const counters = (
  name: string,
  help: string,
  label: string,
  values: Value<Readonly<Record<string, number>>>,
): Figure => ({ type: 'counter', name, help, labels: [label], of: sources => by(label, values(sources)) })

const microsecondsInSecond = 1e6

export const figures: readonly Figure[] = [
  {
    type: 'gauge',
    name: 'calcfs_build_info',
    help: 'Always 1; the label is the version of the daemon',
    labels: ['version'],
    of: ({ version }) => [{ labels: { version }, value: 1 }],
  },
  {
    type: 'counter',
    name: 'calcfs_kernel_calls_total',
    help: 'Calls of the kernel by verb and by how they ended: OK, or the name of an errno',
    labels: ['verb', 'errno'],
    of: ({ activity }) =>
      [...activity.calls.tallies].flatMap(({ of: { verb }, outcomes }) =>
        [...outcomes].map(([errno, value]) => ({ labels: { verb, errno }, value })),
      ),
  },
  {
    type: 'histogram',
    name: 'calcfs_kernel_call_duration_seconds',
    help: 'Time from a call of the kernel to its answer, by verb',
    labels: ['verb'],
    watch: ({ activity }, observe) =>
      activity.calls.listen(({ verb }, milliseconds) => observe({ verb }, milliseconds / 1000)),
  },
  gauge(
    'calcfs_kernel_calls_under_way',
    'Calls of the kernel that wait for their answer',
    ({ activity }) => activity.calls.underWay.size,
  ),
  {
    type: 'counter',
    name: 'calcfs_requests_total',
    help: 'Attempts of requests to the service, by endpoint and by how they ended: the HTTP status, or the kind of failure',
    labels: ['method', 'endpoint', 'outcome'],
    of: ({ activity }) =>
      [...activity.requests.tallies].flatMap(({ of, outcomes }) =>
        [...outcomes].map(([outcome, value]) => ({ labels: { ...of, outcome }, value })),
      ),
  },
  {
    type: 'histogram',
    name: 'calcfs_request_duration_seconds',
    help: 'Time of one attempt of a request, its wait for a slot included, to the end of its answer (of a file: to its head)',
    labels: ['method', 'endpoint'],
    watch: ({ activity }, observe) =>
      activity.requests.listen(({ method, endpoint, milliseconds }) =>
        observe({ method, endpoint }, milliseconds / 1000),
      ),
  },
  gauge(
    'calcfs_requests_under_way',
    'Requests that wait for their slot or their answer',
    ({ activity }) => activity.requests.underWay,
  ),
  counter(
    'calcfs_received_bytes_total',
    'Bytes of answers that the service has sent',
    ({ activity }) => activity.requests.bytes,
  ),
  counters(
    'calcfs_answers_total',
    'Listings, records and lists of files that a program needed: known and fresh, or asked for',
    'from',
    ({ activity: { cache } }) => ({ cache: cache.answersKnown, service: cache.answersAsked }),
  ),
  counters(
    'calcfs_file_reads_total',
    'Reads of files: from what is kept, or from what is arriving',
    'from',
    ({ activity: { cache } }) => ({ cache: cache.readsKept, service: cache.readsArriving }),
  ),
  counters(
    'calcfs_file_read_bytes_total',
    'Bytes of files that programs read: from what is kept, or from what is arriving',
    'from',
    ({ activity: { cache } }) => ({ cache: cache.bytesKept, service: cache.bytesArriving }),
  ),
  gauge(
    'calcfs_cache_files',
    'Files of the service that are kept on this disk',
    sources => sources.cache().files,
  ),
  gauge('calcfs_cache_bytes', 'Bytes that they take', sources => sources.cache().bytes),
  gauge(
    'calcfs_cache_limit_bytes',
    'Bytes that they may take (--cache-size)',
    sources => sources.cache().limitBytes,
  ),
  gauge(
    'calcfs_downloads_under_way',
    'Files that are being downloaded',
    sources => sources.downloads().length,
  ),
  counters(
    'calcfs_prefetched_total',
    'Answers and files that were asked ahead of a program: used by one afterwards, or wasted',
    'outcome',
    ({ activity: { foresight } }) => {
      const { used, wasted } = foresight.counts
      return { used, wasted }
    },
  ),
  counters(
    'calcfs_prefetched_bytes_total',
    'Bytes of files that were asked ahead of a program: used by one afterwards, or wasted',
    'outcome',
    ({ activity: { foresight } }) => foresight.bytes,
  ),
  gauge(
    'calcfs_prefetched_waiting',
    'Answers and files that were asked ahead, and are neither used nor gone yet',
    ({ activity: { foresight } }) => foresight.counts.waiting,
  ),
  gauge(
    'calcfs_drafts_waiting',
    'Edits that the service does not have',
    sources => sources.drafts().filter(draft => !isUnderWay(draft)).length,
  ),
  gauge(
    'calcfs_saves_under_way',
    'Edits that are on their way to the service',
    sources => sources.drafts().filter(isUnderWay).length,
  ),
  gauge('calcfs_service_up', '1 while the service answers, 0 while it is away', sources =>
    sources.awayBecause() === undefined ? 1 : 0,
  ),
  gauge('calcfs_signed_in', '1 while the service takes the sign-in, 0 once it has ended', sources =>
    sources.signedOutBecause() === undefined ? 1 : 0,
  ),
  {
    type: 'counter',
    name: 'calcfs_fleet_questions_total',
    help: 'Questions of this mount that the fleet answered, and those that it asked the service for all; none without --fleet',
    labels: ['outcome'],
    of(sources) {
      const fleet = sources.fleet()
      return fleet === undefined ? [] : by('outcome', { hit: fleet.saved, asked: fleet.asked })
    },
  },
  gauge(
    'calcfs_fleet_mounts',
    'Mounts that share the fleet; none without --fleet',
    sources => sources.fleet()?.mounts,
  ),
  gauge(
    'calcfs_mounted_timestamp_seconds',
    'When the drive was mounted, in seconds since 1970',
    ({ since }) => since / 1000,
  ),
  counter('process_cpu_seconds_total', 'Processor time of the daemon', () => {
    const { user, system } = cpuUsage()
    return (user + system) / microsecondsInSecond
  }),
  gauge('process_resident_memory_bytes', 'Memory of the daemon', () => memoryUsage.rss()),
  gauge(
    'process_open_fds',
    'Open files and connections of the daemon; none where the system does not tell',
    openDescriptors,
  ),
]

/** Undefined where the system has no /proc. */
function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}
