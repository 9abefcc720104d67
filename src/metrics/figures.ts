// The one table of metrics: their names, types, labels and help; docs/metrics.md and docs/grafana.json name only these.

import { readdirSync } from 'node:fs'
import { cpuUsage, memoryUsage } from 'node:process'
import { isUnderWay, type MetricSources } from './sources.js'

/** One measured value with its labels; none of them is a path, a name, a user or a token. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Takes one duration, in seconds. */
export type Observe = (labels: Sample['labels'], seconds: number) => void

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

const only = (value: number): readonly Sample[] => [{ labels: {}, value }]
const by = (label: string, values: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))

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
      [...activity.calls.tallies].flatMap(({ verb, outcomes }) =>
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
  {
    type: 'gauge',
    name: 'calcfs_kernel_calls_under_way',
    help: 'Calls of the kernel that wait for their answer',
    labels: [],
    of: ({ activity }) => only(activity.calls.underWay.size),
  },
  {
    type: 'counter',
    name: 'calcfs_requests_total',
    help: 'Attempts of requests to the service, by endpoint and by how they ended: the HTTP status, or the kind of failure',
    labels: ['method', 'endpoint', 'outcome'],
    of: ({ activity }) =>
      [...activity.requests.tallies].flatMap(({ method, endpoint, outcomes }) =>
        [...outcomes].map(([outcome, value]) => ({ labels: { method, endpoint, outcome }, value })),
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
  {
    type: 'gauge',
    name: 'calcfs_requests_under_way',
    help: 'Requests that wait for their slot or their answer',
    labels: [],
    of: ({ activity }) => only(activity.requests.underWay),
  },
  {
    type: 'counter',
    name: 'calcfs_received_bytes_total',
    help: 'Bytes of answers that the service has sent',
    labels: [],
    of: ({ activity }) => only(activity.requests.bytes),
  },
  {
    type: 'counter',
    name: 'calcfs_answers_total',
    help: 'Listings, records and lists of files that a program needed: known and fresh, or asked for',
    labels: ['from'],
    of: ({ activity: { cache } }) => by('from', { cache: cache.answersKnown, service: cache.answersAsked }),
  },
  {
    type: 'counter',
    name: 'calcfs_file_reads_total',
    help: 'Reads of files: from what is kept, or from what is arriving',
    labels: ['from'],
    of: ({ activity: { cache } }) => by('from', { cache: cache.readsKept, service: cache.readsArriving }),
  },
  {
    type: 'counter',
    name: 'calcfs_file_read_bytes_total',
    help: 'Bytes of files that programs read: from what is kept, or from what is arriving',
    labels: ['from'],
    of: ({ activity: { cache } }) => by('from', { cache: cache.bytesKept, service: cache.bytesArriving }),
  },
  {
    type: 'gauge',
    name: 'calcfs_cache_files',
    help: 'Files of the service that are kept on this disk',
    labels: [],
    of: sources => only(sources.cache().files),
  },
  {
    type: 'gauge',
    name: 'calcfs_cache_bytes',
    help: 'Bytes that they take',
    labels: [],
    of: sources => only(sources.cache().bytes),
  },
  {
    type: 'gauge',
    name: 'calcfs_cache_limit_bytes',
    help: 'Bytes that they may take (--cache-size)',
    labels: [],
    of: sources => only(sources.cache().limitBytes),
  },
  {
    type: 'gauge',
    name: 'calcfs_downloads_under_way',
    help: 'Files that are being downloaded',
    labels: [],
    of: sources => only(sources.downloads().length),
  },
  {
    type: 'counter',
    name: 'calcfs_prefetched_total',
    help: 'Answers and files that were asked ahead of a program: used by one afterwards, or wasted',
    labels: ['outcome'],
    of: ({ activity: { foresight } }) => {
      const { used, wasted } = foresight.counts
      return by('outcome', { used, wasted })
    },
  },
  {
    type: 'counter',
    name: 'calcfs_prefetched_bytes_total',
    help: 'Bytes of files that were asked ahead of a program: used by one afterwards, or wasted',
    labels: ['outcome'],
    of: ({ activity: { foresight } }) => by('outcome', foresight.bytes),
  },
  {
    type: 'gauge',
    name: 'calcfs_prefetched_waiting',
    help: 'Answers and files that were asked ahead, and are neither used nor gone yet',
    labels: [],
    of: ({ activity: { foresight } }) => only(foresight.counts.waiting),
  },
  {
    type: 'gauge',
    name: 'calcfs_drafts_waiting',
    help: 'Edits that the service does not have',
    labels: [],
    of: sources => only(sources.drafts().filter(draft => !isUnderWay(draft)).length),
  },
  {
    type: 'gauge',
    name: 'calcfs_saves_under_way',
    help: 'Edits that are on their way to the service',
    labels: [],
    of: sources => only(sources.drafts().filter(isUnderWay).length),
  },
  {
    type: 'gauge',
    name: 'calcfs_service_up',
    help: '1 while the service answers, 0 while it is away',
    labels: [],
    of: sources => only(sources.awayBecause() === undefined ? 1 : 0),
  },
  {
    type: 'gauge',
    name: 'calcfs_signed_in',
    help: '1 while the service takes the sign-in, 0 once it has ended',
    labels: [],
    of: sources => only(sources.signedOutBecause() === undefined ? 1 : 0),
  },
  {
    type: 'counter',
    name: 'calcfs_fleet_questions_total',
    help: 'Questions of this mount that the fleet answered, and those that it asked the service for all; none without --fleet',
    labels: ['outcome'],
    of(sources) {
      const fleet = sources.fleet()
      return fleet === undefined ? [] : by('outcome', { hit: fleet.hits, asked: fleet.asked })
    },
  },
  {
    type: 'gauge',
    name: 'calcfs_fleet_mounts',
    help: 'Mounts that share the fleet; none without --fleet',
    labels: [],
    of(sources) {
      const fleet = sources.fleet()
      return fleet === undefined ? [] : only(fleet.mounts)
    },
  },
  {
    type: 'gauge',
    name: 'calcfs_mounted_timestamp_seconds',
    help: 'When the drive was mounted, in seconds since 1970',
    labels: [],
    of: ({ since }) => only(since / 1000),
  },
  {
    type: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the daemon',
    labels: [],
    of() {
      const { user, system } = cpuUsage()
      return only((user + system) / microsecondsInSecond)
    },
  },
  {
    type: 'gauge',
    name: 'process_resident_memory_bytes',
    help: 'Memory of the daemon',
    labels: [],
    of: () => only(memoryUsage.rss()),
  },
  {
    type: 'gauge',
    name: 'process_open_fds',
    help: 'Open files and connections of the daemon; none where the system does not tell',
    labels: [],
    of: () => openDescriptors().map(value => ({ labels: {}, value })),
  },
]

/** Empty where the system has no /proc. */
function openDescriptors(): readonly number[] {
  try {
    return [readdirSync('/proc/self/fd').length]
  } catch {
    return []
  }
}
