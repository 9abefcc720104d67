// The page and the board of the metrics name those that exist, and all of them; no label is a path, a name, a user or a token.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { Activity } from '../../src/activity/activity.js'
import { figures, type MetricSources } from '../../src/metrics/figures.js'
import { openWatch } from '../../src/metrics/watch.js'

const root = new URL('../../../', import.meta.url)
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** A mount of which something of everything has happened, with words that no label may hold. */
function busySources(): MetricSources {
  const activity = new Activity()
  for (const [verb, errno, name] of [
    ['getattr', 0, 'OK'],
    ['open', 2, 'ENOENT'],
    ['read', 5, 'EIO'],
  ] as const) {
    const call = activity.calls.begin(verb, () => '/projects/secret-name')
    activity.calls.returned(call, true)
    activity.calls.answered(call, errno, name)
  }
  for (const endpoint of [
    '/project/descendant',
    '/calculation/secret-name7',
    '/report?id=secret-name',
    '/Secret-name',
  ]) {
    activity.requests.begin()
    activity.requests.ended({ method: 'GET', endpoint, outcome: '200', milliseconds: 12 })
  }
  activity.foresight.brought('secret-name', 100)
  activity.foresight.used('secret-name')
  activity.requests.received(1234)
  return {
    activity,
    version: '1.2.3',
    since: 1_700_000_000_000,
    now: () => 1_700_000_100_000,
    drive: { mountPoint: '/secret-name', service: 'https://secret-name', user: 'secret-name' },
    cache: () => ({ files: 3, bytes: 300, limitBytes: 1000 }),
    downloads: () => [{ name: 'secret-name', arrived: 1, length: 2 }],
    drafts: () => [
      { record: 'report 42', state: 'refused', since: '2026-01-01T00:00:00.000Z', why: 'secret-name' },
    ],
    awayBecause: () => undefined,
    signedOutBecause: () => undefined,
    fleet: () => ({ saved: 1, asked: 2, mounts: 3 }),
  }
}

/** What Prometheus' own tool finds fault with. */
function promtool(page: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('promtool', ['check', 'metrics'], (error, stdout, stderr) => {
      if (error !== null && error.code === undefined) reject(error)
      else resolve(`${stdout}${stderr}`)
    })
    child.stdin?.end(page)
  })
}

const namesIn = (page: string): ReadonlySet<string> =>
  new Set(
    page.match(/\b(calcfs|process)_[a-z_]+[a-z]\b/g)?.map(name => name.replace(/_(bucket|sum|count)$/, '')),
  )

const known = new Set(figures.map(({ name }) => name))

t.test(
  'METRIC-2 promtool finds no fault, and no label tells of a path, a name, a user or a token',
  async t => {
    const sources = busySources()
    const watch = openWatch(sources)
    await watch.metrics({})
    const call = sources.activity.calls.begin('getattr', () => '/projects/secret-name')
    sources.activity.calls.answered(call, 0, 'OK')
    const { text: page } = await watch.metrics({})
    t.equal(await promtool(page), '')
    t.notMatch(page, /secret-name/i)
    t.match(page, /^calcfs_kernel_calls_total\{verb="open",errno="ENOENT"\} 1$/m)
    t.match(page, /^calcfs_kernel_call_duration_seconds_count\{verb="getattr"\} 1$/m)
    t.match(page, /^calcfs_requests_total\{method="GET",endpoint="\/other",outcome="200"\} 3$/m)
    t.same(namesIn(page), known)
  },
)

t.test('METRIC-2 docs/operations.md names each metric, and the board asks for no other one', async t => {
  t.same(namesIn(text('docs/operations.md')), known)
  const board = JSON.parse(text('docs/grafana.json')) as {
    panels: { targets?: { expr: string }[] }[]
  }
  const asked = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  t.ok(asked.length >= 12)
  for (const expr of asked) {
    const names = [...namesIn(expr)]
    t.ok(names.length > 0, expr)
    t.same(
      names.filter(name => !known.has(name)),
      [],
      expr,
    )
  }
})
