// What `calcfs status`, `fleet` and `doctor` say of a fleet, and with which code they end.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Finding } from '../../../src/cli/doctor/finding.js'
import { makeFleetKey } from '../../../src/fleet/seal.js'
import { testRedis } from '../../testbed/fleet/redis.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import type { Ran } from '../../testbed/programs.js'
import { namesOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

t.jobs = 2

const password = 'open%sesame'
const limits = ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru']

const statusOf = (testbed: KernelTestbed, ...flags: string[]): Promise<Ran> =>
  testbed.calcfs('status', ...flags, testbed.directory)
const fleetOf = (testbed: KernelTestbed, verb: string, ...flags: string[]): Promise<Ran> =>
  testbed.here('fleet', verb, ...flags)

t.test(
  'FLEET-3 two mounts of a fleet are counted, and what they saved; one that is gone is said to be',
  async t => {
    const redis = await testRedis(t, limits)
    await redis.client.config('SET', 'requirepass', password)
    const port = String(redis.port)
    const key = join(redis.directory, 'not-there-yet', 'key')
    makeFleetKey(key)
    const address = redis.address.replace('://', `://:${encodeURIComponent(password)}@`)
    const settings = { fleet: address, fleetKeyFile: key }
    const one = await realMount(t, { settings })
    const other = await realMount(t, { settings }, { service: one.service })
    const said: Ran[] = []
    const keep = (ran: Ran): Ran => {
      said.push(ran)
      return ran
    }
    for (const testbed of [one, other]) await namesOf(testbed, 'projects/Water splitting')

    await until(10_000, 'both are counted', async () => / has 2 mounts, /.test((await statusOf(one)).stdout))
    t.match(keep(await statusOf(other)), {
      code: 0,
      stdout: new RegExp(
        `the fleet redis://127.0.0.1:${port} has 2 mounts, [1-9]\\d* of \\d+ requests saved by it here\n`,
      ),
    })
    const [status] = JSON.parse(keep(await statusOf(other, '--json')).stdout)
    t.match(status.fleet, { address: redis.address, mounts: 2, saved: Number, asked: Number })
    const shown = keep(await fleetOf(other, 'status'))
    t.equal(shown.code, 0)
    t.match(shown.stdout, / has 2 mounts, [1-9]\d* of \d+ requests saved by it here\.\n/)
    t.match(JSON.parse(keep(await fleetOf(other, 'status', '--json')).stdout), {
      address: redis.address,
      mounts: 2,
      saved: Number,
    })

    await redis.kill()
    await until(10_000, 'it is passed by', async () => (await fleetOf(one, 'status')).code === 4)
    t.match(keep(await fleetOf(one, 'status')), {
      stdout: /is passed by: .+; the service is asked alone/,
    })
    t.match(keep(await statusOf(one)), {
      code: 0,
      stdout: /the fleet redis:.* is passed by: .+; the service is asked alone/,
    })
    t.match(JSON.parse((await statusOf(one, '--json')).stdout)[0].fleet, { passedByBecause: String })
    const log = await one.log()
    t.match(log, /the fleet is passed by/)
    for (const text of [log, ...said.flatMap(({ stdout, stderr }) => [stdout, stderr])])
      t.notOk(/open.*sesame/.test(text), 'the password is not shown')
  },
)

t.test('FLEET-3 a mount without a fleet says that it shares nothing', async t => {
  const testbed = await realMount(t)
  t.match(await fleetOf(testbed, 'status'), { code: 0, stdout: /^Nothing is shared: / })
  t.match(await fleetOf(testbed, 'status', '--json'), { code: 0, stdout: '{\n  "shared": false\n}\n' })
  t.notMatch((await statusOf(testbed)).stdout, /the fleet/)

  const redis = await testRedis(t)
  await redis.client.config('SET', 'requirepass', password)
  const key = join(redis.directory, 'key')
  const doctor = async (
    ...flags: string[]
  ): Promise<{ readonly code: number | null; readonly of: Map<string, Finding>; readonly text: string }> => {
    const ran = await testbed.calcfs('doctor', '--json', ...flags)
    const findings: readonly Finding[] = JSON.parse(ran.stdout)
    return {
      code: ran.code,
      of: new Map(findings.filter(({ check }) => check.startsWith('fleet')).map(one => [one.check, one])),
      text: ran.stdout + ran.stderr,
    }
  }

  await t.test('FLEET-3 the doctor looks at key, address and server', async t => {
    t.equal((await doctor()).of.size, 0, 'not where none is set')
    const made = await testbed.calcfs('fleet', 'key', key)
    t.match(made, { code: 0, stdout: /is made/ })
    t.match(await testbed.calcfs('fleet', 'key', key), { code: 2, stderr: /there is a file already/ })
    const known = redis.address.replace('://', `://:${encodeURIComponent(password)}@`)
    const flags = ['--fleet', known, '--fleet-key-file', key]
    let well = await doctor(...flags)
    // On a busy machine a command may take longer than a fleet is waited for.
    const isSlow = () => [...well.of.values()].some(({ state }) => state !== 'good')
    for (let tries = 0; tries < 20 && isSlow(); tries += 1) well = await doctor(...flags)
    t.equal(well.code, 0)
    t.equal(well.of.get('fleet')?.state, 'good')

    chmodSync(key, 0o644)
    const shared = await doctor(...flags)
    t.equal(shared.code, 1)
    t.match(shared.of.get('fleet'), { state: 'bad', found: /chmod 600/ })
    chmodSync(key, 0o600)
    writeFileSync(join(redis.directory, 'none'), 'x', { mode: 0o600 })
    t.match((await doctor(...flags.with(3, join(redis.directory, 'none')))).of.get('fleet'), {
      state: 'bad',
      found: /no key/,
    })
    const open = await doctor('--fleet', redis.address, '--fleet-key-file', key)
    t.match(open.of.get('fleet'), { state: 'poor', found: /wants a password/, mend: /file of mode 0600/ })
    t.equal(open.code, 0, 'a drive works without it')
    const wrong = await doctor(
      '--fleet',
      redis.address.replace('://', '://:wrong-one@'),
      '--fleet-key-file',
      key,
    )
    t.match(wrong.of.get('fleet'), { state: 'poor', found: /WRONGPASS/ })
    const far = await doctor('--fleet', 'valkey://fleet.invalid', '--fleet-key-file', key)
    t.match(far.of.get('fleet'), { state: 'poor' })
    t.equal((await doctor('--fleet', 'http://x:y@z', '--fleet-key-file', key)).of.get('fleet')?.state, 'bad')
    for (const { text } of [well, shared, open, wrong])
      t.notOk(/open.*sesame|wrong-one/.test(text), 'the password is not shown')
  })

  await t.test('FLEET-3 a mount whose key or address is none does not come up', async t => {
    mkdirSync(join(testbed.local, 'none'))
    const mount = (...flags: string[]): Promise<Ran> =>
      testbed.calcfs('mount', testbed.service.url, join(testbed.local, 'none'), '--user', 'demo', ...flags)
    t.match(await mount('--fleet', redis.address), { code: 2, stderr: /needs --fleet-key-file/ })
    t.match(await mount('--fleet', redis.address, '--fleet-key-file', '/nowhere'), {
      code: 2,
      stderr: /no such file/,
    })
    t.match(await mount('--fleet', 'ftp://u:hidden@h', '--fleet-key-file', key), {
      code: 2,
      stderr: /no address(?!.*hidden)/s,
    })
  })
})
