// Lower bound of a job: raw undici sends the same requests, each as early as it is known, and keeps nothing.
import { performance } from 'node:perf_hooks'
import { rawClient } from './client.js'
import { type Item, openQuestions } from './questions.js'

/**
 * listings: every listing below. walk: and the size of every file by HEAD. records: and every record. copy: every
 * listing and every body. contents: the bodies alone, with the listings known before the clock starts. one: one
 * body, of the largest file.
 */
export interface LimitJob {
  readonly job: 'listings' | 'walk' | 'records' | 'copy' | 'contents' | 'one'
  /** The origin's `rest` address, or that of a relay to it. */
  readonly url: string
  readonly connections: number
  /** PEM file with the authority of a server that speaks TLS. */
  readonly authorityFile?: string
  /** Project paths; all projects by default. */
  readonly below?: readonly string[]
  /** Only files whose name ends so. */
  readonly ending?: string
  /** `levels` asks two listings a project, `all` two for everything. */
  readonly listing?: 'levels' | 'all'
}

export interface Limit {
  readonly seconds: number
  readonly requests: number
  /** Bytes of bodies received. */
  readonly bytes: number
  /** Processor time of this client, in seconds. */
  readonly processor: number
}

const job = JSON.parse(process.argv[2] ?? '{}') as LimitJob
const client = await rawClient(job.url, job.connections, job.authorityFile)
const questions = openQuestions(client, job.listing ?? 'levels')
const wanted = ({ name }: Item): boolean => job.ending === undefined || name.endsWith(job.ending)
const roots = await Promise.all((job.below ?? ['']).map(questions.resolve))

const size = (item: Item): Promise<unknown> => client.head(item.address)
const body = (item: Item): Promise<unknown> => client.drain(item.address)

async function everyFile(use: (item: Item) => Promise<unknown>, records: boolean): Promise<void> {
  const each = async (item: Item): Promise<void> => {
    if (wanted(item)) await use(item)
  }
  await Promise.all(roots.map(root => questions.walk(root, { each, records })))
}

/** What is done while the clock runs. */
async function prepared(): Promise<() => Promise<unknown>> {
  switch (job.job) {
    case 'listings':
      return () => everyFile(async () => undefined, false)
    case 'walk':
      return () => everyFile(size, false)
    case 'records':
      return () => everyFile(size, true)
    case 'copy':
      return () => everyFile(body, false)
    case 'contents': {
      const items = await known()
      return () => Promise.all(items.map(body))
    }
    case 'one': {
      const items = await known()
      const sizes = await Promise.all(items.map(item => client.head(item.address)))
      const largest = items[sizes.indexOf(Math.max(...sizes))]
      if (largest === undefined) throw new Error('there is no file')
      return () => body(largest)
    }
  }
}

async function known(): Promise<readonly Item[]> {
  const items: Item[] = []
  await everyFile(async item => void items.push(item), false)
  return items
}

const run = await prepared()
const before = client.traffic()
const processorBefore = process.cpuUsage()
const start = performance.now()
await run()
const seconds = (performance.now() - start) / 1000
const { user, system } = process.cpuUsage(processorBefore)
const after = client.traffic()
const limit: Limit = {
  seconds,
  requests: after.requests - before.requests,
  bytes: after.bytes - before.bytes,
  processor: (user + system) / 1e6,
}
console.log(JSON.stringify(limit))
await client.close()
process.exit(0)
