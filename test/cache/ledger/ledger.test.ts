// What the ledger promises: values at once, over restarts, between processes; and no trouble from its file, whatever that holds.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import t from 'tap'
import { Ledger } from '../../../src/cache/ledger/ledger.js'
import { chance } from '../../long/chance.js'
import { handClock } from '../../testbed/clocks.js'
import { scratch } from '../../testbed/disk/scratch.js'
import type { TestLifetime } from '../../testbed/testbed.js'

async function place(test: TestLifetime) {
  const directory = await scratch(test)
  const clock = handClock()
  return {
    directory,
    pass: clock.turn,
    open: () => {
      const ledger = new Ledger(directory, { clock, log: () => {} })
      test.teardown(() => ledger.close())
      return ledger
    },
  }
}

t.test('while another process holds the file, nothing waits and nothing is lost', async t => {
  const { open, directory } = await place(t)
  const ledger = open()
  const other = new Database(join(directory, 'ledger.db'))
  other.exec('BEGIN IMMEDIATE')
  ledger.set('r', 'k', 'v')
  t.notOk(ledger.flush())
  t.equal(ledger.get('r', 'k'), 'v')
  other.exec('COMMIT')
  other.close()
  t.ok(ledger.flush())
})

t.test('what waits while its file is gone is found once the file is there again', async t => {
  const { open, directory } = await place(t)
  const ledger = open()
  for (const value of ['short', 'long '.repeat(60)]) {
    for (const end of ['', '-wal', '-shm']) rmSync(join(directory, `ledger.db${end}`), { force: true })
    ledger.set('r', value, value)
    ledger.freshen('r', value)
    t.ok(ledger.flush())
    t.equal(ledger.get('r', value), value)
  }
})

t.test('short values are what was written last, with two processes', async t => {
  const { open, pass } = await place(t)
  const [own, other] = [open(), open()]
  const pick = chance(7)
  const below = (most: number): number => pick.whole(0, most - 1)
  const truth = new Map<string, string>()
  for (let step = 0; step < 4_000; step += 1) {
    const writer = below(10) === 0 ? other : own
    // What this one has not written yet would be written over the other's.
    if (writer === other) own.flush()
    const key = `k${below(200)}`
    const what = below(12)
    if (what === 0) {
      writer.delete('size', key)
      truth.delete(key)
    } else if (what <= 2) {
      const value = what === 1 ? `${below(1_000)}` : 'long '.repeat(60)
      writer.set('size', key, value)
      truth.set(key, value)
    } else if (what === 3) writer.freshen('size', key)
    if (what <= 3 && (writer === other || below(3) === 0)) writer.flush()
    if (writer === other) pass(100)
    const asked = `k${below(250)}`
    if (own.get('size', asked) !== truth.get(asked)) t.fail(`step ${step}: ${asked}`)
  }
  own.flush()
  const fresh = open()
  for (let at = 0; at < 250; at += 1)
    t.equal(fresh.get('size', `k${at}`), truth.get(`k${at}`), `k${at} on the disk`)
})
