// Replaced contents: what one mount finds replaced, every mount that shares the ledger hears of.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ContentVersions } from '../../../src/cache/content/store/versions.js'
import { openLedger } from '../../../src/cache/ledger/ledger.js'
import { type Instant, instant } from '../../../src/remote/remote.js'
import { clockOf } from '../../testbed/clocks.js'

t.test(
  'a content that one mount finds replaced counts so on the other, and whenever it is found again',
  async t => {
    const directory = mkdtempSync(join(tmpdir(), 'calcfs-replaced-'))
    t.teardown(() => rmSync(directory, { recursive: true, force: true }))
    let time = 1_000
    const now = (): Instant => instant(time)
    function mount() {
      const ledger = openLedger(directory, { clock: clockOf(now), log: () => {} })
      t.teardown(() => ledger.close())
      const elsewhere: string[] = []
      const changed: Instant[] = []
      const found = new ContentVersions(ledger, {
        now,
        replaced: () => {},
        elsewhere: name => void elsewhere.push(name),
        changed: () => void changed.push(now()),
      })
      return { ledger, elsewhere, changed, found }
    }
    const [one, other] = [mount(), mount()]
    for (const expected of [2_000, 3_000]) {
      t.not(other.found.replacedAt('a'), expected)
      time = expected
      one.found.noteReplaced('a')
      one.ledger.flush()
      time += 100
      t.equal(other.found.replacedAt('b'), undefined, 'any question hears of it')
      t.equal(other.found.replacedAt('a'), expected)
    }
    t.same(other.elsewhere, ['a', 'a'], 'what is open there is of the old version, each time')
    t.equal(other.changed.length, 2)
    t.same(one.elsewhere, [], 'its own notes are no news')
    t.equal(mount().found.replacedAt('a'), 3_000, 'over a restart, too')
  },
)
