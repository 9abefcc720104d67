// Whatever goes wrong in the middle of a save: the right errno, the text and its why are kept, and the next save works.
import t, { type Test } from 'tap'
import type { KernelTestbed } from '../../testbed/mount.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { fillSampleData } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'

/** Each fault has a report of its own: the kernel's attributes of one draft count for two seconds. */
interface Place {
  readonly id: string
  readonly report: string
  readonly draft: string
}

const placeOf = (at: number): Place => {
  const id = String(900 + at)
  return { id, report: `reports/${id}.json`, draft: `.calcfs/drafts/${id}.json` }
}

interface Fault {
  readonly name: string
  readonly errno: string
  /** What `.calcfs/drafts/42.json.why` says. */
  readonly why: RegExp
  /** Brings the fault about; what comes of it takes it away. */
  readonly begin: (testbed: KernelTestbed) => Promise<() => unknown> | (() => unknown)
  /** The text to compare with lies next to the draft. */
  readonly theirs?: true
  /** The command line is asked, too. */
  readonly told?: true
  /** How often the PUT leaves the mount. */
  readonly puts?: number
}

const put = /^PUT \/report$/

const spoiled =
  (which: RegExp, how: Interceptor) =>
  ({ service }: KernelTestbed) =>
    service.intercept(which, how)

const answered =
  (status: number, said: string, type = 'application/json'): Interceptor =>
  response =>
    void response.writeHead(status, { 'content-type': type }).end(said)

/** The service refuses the PUT with these words. */
const refused = (status: number, errno: string, what: string): Fault => ({
  name: `the service answers ${status}`,
  errno,
  why: new RegExp(`the service answered ${status} [\\s\\S]*The service said: .*${what}`),
  begin: spoiled(put, answered(status, JSON.stringify({ error: what }))),
})

const silence: Interceptor = () => {}
const cut: Interceptor = response => void response.destroy()

const faults: readonly Fault[] = [
  { ...refused(400, 'EINVAL', 'no such field'), told: true },
  refused(403, 'EACCES', 'the report is locked'),
  refused(404, 'ENOENT', 'the report is gone'),
  // The same number as EOPNOTSUPP here.
  refused(405, 'ENOTSUP', 'nothing can be changed here'),
  { ...refused(409, 'ESTALE', 'changed by another'), theirs: true },
  refused(413, 'EFBIG', 'too long'),
  refused(422, 'EINVAL', 'the title is taken'),
  refused(423, 'EBUSY', 'being edited'),
  refused(500, 'EIO', 'the database is down'),
  refused(503, 'EBUSY', 'maintenance'),
  refused(507, 'ENOSPC', 'no room on the server'),
  {
    name: 'a 200 that was not stored',
    errno: 'EIO',
    why: /the server ignored the change of "title"/,
    begin: spoiled(put, answered(200, '{}')),
  },
  {
    name: 'a proxy answers 200 with a page of its own',
    errno: 'EIO',
    why: /was not saved: .*(HTML|page|ignored the change)/i,
    begin: spoiled(put, answered(200, '<html>Please sign in</html>', 'text/html')),
  },
  {
    name: 'half a record is read before the save',
    errno: 'EIO',
    why: /was not saved/,
    begin: spoiled(/^GET \/report\?/, answered(200, '{"id":900,"title":')),
    puts: 0,
  },
  {
    name: 'the service does not answer in time',
    errno: 'ETIMEDOUT',
    why: /was not saved: no answer to PUT .* within [\d.]+ m?s\.\nIt was sent, and whether the service has stored it could not/,
    begin: spoiled(put, silence),
  },
  {
    name: 'the connection breaks before the service has the request',
    errno: 'EHOSTUNREACH',
    why: /was not saved/,
    begin: spoiled(put, cut),
  },
  {
    name: 'the service is down',
    errno: 'EHOSTUNREACH',
    why: /nothing answers at the address of the service[\s\S]*Try again when the service answers/,
    async begin({ service }) {
      await service.leave()
      return service.back
    },
    puts: 0,
    told: true,
  },
  {
    name: 'the password was changed, and the token has ended',
    errno: 'EACCES',
    why: /refused the log-in of demo[\s\S]*run `calcfs login http/,
    begin({ service, calcfs }) {
      const mends = [/^PUT/, /^POST \/login/].map(which =>
        service.intercept(which, answered(401, '{"error":"not signed in"}')),
      )
      return async () => {
        for (const mend of mends) mend()
        const { code, stderr } = await calcfs('login', service.url, '--user', 'demo')
        if (code !== 0) throw new Error(stderr)
      }
    },
  },
]

t.setTimeout(240_000)

t.test('faults in the middle of a save', async t => {
  const testbed = await warmMount(t, {
    settings: { deadlineSave: '1500ms', deadlineMetadata: '1500ms' },
    fill(seed) {
      fillSampleData(seed)
      for (const at of faults.keys())
        seed.addReport({
          id: placeOf(at).id,
          name: 'Report',
          title: 'Old title',
          owner: 'demo',
          calculations: [],
        })
    },
  })
  for (const [at, fault] of faults.entries()) {
    await t.test(`${fault.name}: ${fault.errno}`, t =>
      faulty(t, testbed, { fault, place: placeOf(at), title: `Title ${at}` }),
    )
  }
  t.comment(`${faults.length} faults in the middle of a save, none of which cost a text`)
})

async function faulty(
  t: Test,
  testbed: KernelTestbed,
  { fault, place, title }: { fault: Fault; place: Place; title: string },
): Promise<void> {
  const { report } = place
  const before = JSON.parse(await stored(testbed, place)).title
  const text = (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
  const end = await fault.begin(testbed)
  const sent = await testbed.service.during(async () => {
    t.equal(await outcome(overwrite(testbed, report, text)), fault.errno)
    await keeps(t, testbed, { fault, place, text })
  })
  t.equal(writes(sent).length, fault.puts ?? 1, `${writes(sent)}`)
  await end()
  t.equal(JSON.parse(await stored(testbed, place)).title, before, 'nothing is sent by itself')
  // A service that was away is looked for every two seconds.
  await until(10_000, 'the next save works', async () => {
    return (await outcome(overwrite(testbed, report, text))) === 'done'
  })
  t.equal(JSON.parse(await stored(testbed, place)).title, title)
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  if (fault.told)
    t.match(await testbed.calcfs('status', testbed.directory), { code: 0, stdout: /everything is saved/ })
}

/** The text is where the user looks for it, and every command says that it is not saved. */
async function keeps(
  t: Test,
  testbed: KernelTestbed,
  { fault, place, text }: { fault: Fault; place: Place; text: string },
) {
  const { id, report, draft } = place
  t.equal(await textOf(testbed, report), text, 'the file shows the text')
  t.equal(await textOf(testbed, draft), text)
  t.match(await textOf(testbed, `${draft}.why`), fault.why)
  const names = [`${id}.json`, `${id}.json.why`, ...(fault.theirs ? [`${id}.theirs.json`] : [])]
  t.same(await namesOf(testbed, '.calcfs/drafts'), names)
  if (fault.told)
    t.match(await testbed.calcfs('status', testbed.directory), {
      code: 7,
      stdout: new RegExp(`not saved:\\n +${id}\\.json: report ${id}, `),
    })
}

const stored = ({ service }: KernelTestbed, { id }: Place): Promise<string> =>
  service.elsewhere('GET', `/report?id=${id}`)
