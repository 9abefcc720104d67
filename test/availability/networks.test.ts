// A laptop's networks, on a link of the test's own: silence, another address, sleep, a link that is down. What is known is shown at once, and all is right again within two seconds.
import t, { type Test } from 'tap'
import { type OwnNetwork, ownNetwork, type Passage } from '../testbed/machine/own-network.js'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { fillSampleData, ids, log } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { namesOf, outcome } from '../testbed/testbed.js'
import { within } from '../testbed/within.js'

t.setTimeout(300_000)

interface Placed {
  readonly testbed: MountTestbed
  readonly network: OwnNetwork
  readonly passage: Passage
}

const many = 12
const fileOf = (at: number): string => `by-id/calculation/${800_000 + at}/a.out`

async function placed(t: Test): Promise<Placed> {
  const network = await ownNetwork(t)
  const service = await testService(t, seed => {
    fillSampleData(seed)
    seed.addProject({ id: '900', name: 'Many', owner: 'demo' })
    for (let at = 0; at < many; at += 1)
      seed.addCalculation({
        id: String(800_000 + at),
        name: `c${at}`,
        project: '900',
        files: { 'a.out': `text ${at}\n`.repeat(50) },
      })
  })
  const passage = await network.open(t, () => Number(new URL(service.url).port))
  const testbed = await realMount(
    t,
    { settings: { ttlListing: '1s', ttlRecord: '1s', ttlAbsent: '1s' } },
    {
      service,
      prefix: [...network.within, 'env', 'CALCFS_INSECURE_HTTP=yes'],
      url: service.url.replace(/127\.0\.0\.1:\d+/, `${passage.host}:${passage.port}`),
    },
  )
  return { testbed, network, passage }
}

const wait = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))

async function timed<Value>(what: string, work: Promise<Value>): Promise<{ value: Value; ms: number }> {
  const began = Date.now()
  const value = await within(40_000, what, work)
  return { value, ms: Date.now() - began }
}

async function warm({ files }: MountTestbed): Promise<void> {
  await files.readdir('projects/Water splitting')
  await files.readdir('projects/Many')
  await files.readFile(`by-id/calculation/${ids.transition}/run.log`)
  await files.readFile('projects/Water splitting/.project.json')
  for (let at = 0; at < 3; at += 1) await files.readFile(fileOf(at))
}

/** What was read before, past every lifetime. */
async function knownIsShown(t: Test, testbed: MountTestbed): Promise<void> {
  const { files } = testbed
  const looks: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a listing', () => namesOf(testbed, 'projects/Water splitting')],
    ['a file', () => files.readFile(`by-id/calculation/${ids.transition}/run.log`)],
    ['a record', () => files.readFile('projects/Water splitting/.project.json')],
    ['a stat', () => files.lstat(fileOf(1))],
    ['the top', () => namesOf(testbed, 'projects')],
    ['a listing again', () => namesOf(testbed, 'projects/Many')],
  ]
  for (const [what, look] of looks) {
    const { value, ms } = await timed(what, outcome(look()))
    t.equal(value, 'done', `${what}, in ${ms} ms`)
    t.ok(ms < 5_000, `${what} is shown in ${ms} ms`)
  }
  t.equal((await files.readFile(`by-id/calculation/${ids.transition}/run.log`)).toString(), log)
}

async function rightAgain(t: Test, testbed: MountTestbed, from: number, ms = 2_000): Promise<void> {
  const began = Date.now()
  let tries = 0
  for (let at = from; at < from + 3; at += 1) {
    for (;;) {
      tries += 1
      const { value, ms } = await timed(fileOf(at), testbed.files.readFile(fileOf(at)).then(String, String))
      if (value === `text ${at}\n`.repeat(50)) break
      if (Date.now() - began > 30_000) throw new Error(`${fileOf(at)}: ${value} after ${ms} ms`)
      await wait(50)
    }
  }
  const took = Date.now() - began
  t.comment(`three files that were never read: ${took} ms, ${tries} tries`)
  t.ok(took < ms + 3_000, `all is right ${took} ms after the return`)
}

t.test('silence', async t => {
  const { testbed, network } = await placed(t)
  await warm(testbed)
  await network.silence()
  await wait(1_500)
  await knownIsShown(t, testbed)
  const { value, ms } = await timed('unknown', outcome(testbed.files.readFile(fileOf(11))))
  t.comment(`what is not known: ${value} after ${ms} ms`)
  await network.hear()
  await rightAgain(t, testbed, 3)
})

t.test('another address', async t => {
  const { testbed, network, passage } = await placed(t)
  await warm(testbed)
  await network.move()
  await rightAgain(t, testbed, 3)
  passage.forget()
})

t.test('down', async t => {
  const { testbed, network } = await placed(t)
  await warm(testbed)
  await network.down()
  await wait(1_500)
  await knownIsShown(t, testbed)
  await network.up()
  await rightAgain(t, testbed, 3)
})

t.test('sleep', async t => {
  const { testbed, network, passage } = await placed(t)
  await warm(testbed)
  const pid = testbed.daemonPid() ?? 0
  process.kill(pid, 'SIGSTOP')
  await network.silence()
  passage.forget()
  await wait(6_000)
  await network.move()
  await network.hear().catch(() => {})
  process.kill(pid, 'SIGCONT')
  await rightAgain(t, testbed, 3)
})
