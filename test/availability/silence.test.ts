// Unanswered requests cost their own callers the deadline, and no other caller anything while connections are left: at every door.
import t, { type Test } from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { cml, fillMany } from '../testbed/sample-data.js'
import { outcome, type Testbed } from '../testbed/testbed.js'
import { isDrawn } from '../testbed/variants.js'
import { within } from '../testbed/within.js'

const most = 200
const dead = (at: number): string => String(500_000 + at)
const good = (at: number): string => String(600_000 + at)
const rounds = 8
/** Milliseconds that a busy machine may add, and far below the deadline that a use takes which is held up. */
const [mostInTheMiddle, mostOfAll] = [1_000, 20_000]

/** Which requests are never answered, and the call of a program that makes one. */
interface Door {
  readonly silent: RegExp
  readonly call: (testbed: Testbed, id: string) => Promise<unknown>
}

const sizeDoor: Door = {
  silent: /^HEAD \S*[?&]id=5\d{5}\b/,
  call: ({ files }, id) => files.lstat(`by-id/calculation/${id}/a.out`),
}

const doors: Readonly<Record<string, Door>> = {
  size: sizeDoor,
  content: {
    silent: /^GET \/calculation\/files\/bitstream\?id=5\d{5}\b/,
    call: ({ files }, id) => files.readFile(`by-id/calculation/${id}/a.out`),
  },
  xyz: {
    silent: /^\w+ \/calculation\/xyz\?id=5\d{5}\b/,
    call: ({ files }, id) => files.readFile(`by-id/calculation/${id}/c${id}.xyz`),
  },
  listing: {
    silent: /^GET \/calculation\/files\?id=5\d{5}\b/,
    call: ({ files }, id) => files.readdir(`by-id/calculation/${id}`),
  },
  record: {
    silent: /^GET \/calculation\?id=5\d{5}\b/,
    call: ({ files }, id) => files.readFile(`by-id/calculation/${id}/.calculation.json`),
  },
}

const open = (t: Test, deadlineMetadata: string): Promise<Testbed> =>
  inProcess(t, {
    settings: { deadlineMetadata },
    fill: fillMany(
      [dead, good].flatMap(idOf => Array.from({ length: most }, (_, at) => idOf(at))),
      id => ({ 'a.out': `${id}\n`, 'output.cml': cml }),
    ),
  })

/** One use of each door on a calculation that nothing is known of; milliseconds each took. */
async function useAll(testbed: Testbed, id: string, into: Map<string, number[]>): Promise<void> {
  for (const [door, { call }] of Object.entries(doors)) {
    const elapsed = stopwatch()
    await within(70_000, `${door} of ${id}`, call(testbed, id))
    into.set(door, [...(into.get(door) ?? []), elapsed()])
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0

async function measured(testbed: Testbed, from: number): Promise<ReadonlyMap<string, number[]>> {
  const times = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) await useAll(testbed, good((from + round) % most), times)
  return times
}

for (const [at, [door, { silent, call }]] of Object.entries(doors).entries()) {
  if (!isDrawn(at, 3)) continue
  t.test(`AVAIL-1 16 silent requests for a ${door} hold up nothing else`, async t => {
    const testbed = await open(t, '1m')
    const quiet = await measured(testbed, 0)
    const held = testbed.service.hold(silent, 'request')
    const asked = Array.from({ length: 16 }, (_, at) => outcome(call(testbed, dead(at))))
    await held.met
    const busy = await measured(testbed, rounds)
    for (const [use, times] of busy) {
      const [calm, now] = [median(quiet.get(use) ?? []), median(times)]
      t.ok(now < 2 * calm + mostInTheMiddle, `${use}: ${now.toFixed(1)} ms, quiet ${calm.toFixed(1)} ms`)
      t.ok(Math.max(...times) < mostOfAll, `${use}: ${Math.max(...times).toFixed(0)} ms at most`)
    }
    held.open()
    await within(60_000, 'the silent ones', Promise.all(asked))
  })
}

t.test('AVAIL-1 a storm of silent requests ends at its deadline, and all is well after it', async t => {
  const testbed = await open(t, '10s')
  const heal = testbed.service.intercept(sizeDoor.silent, () => {})
  const asked = Array.from({ length: most }, (_, at) => outcome(sizeDoor.call(testbed, dead(at))))
  for (const end of await within(25_000, 'the silent ones', Promise.all(asked)))
    t.match(end, /^(ETIMEDOUT|EBUSY)$/)
  heal()
  // Each call that was held up would end with its deadline.
  await useAll(testbed, good(0), new Map())
})
