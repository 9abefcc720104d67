// Which text a written one is an edit of: wrong guesses lose edits.
import t from 'tap'
import { type Candidate, chooseBase } from '../../../src/edit/save/base.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { instant } from '../../../src/remote/remote.js'
import type { ProcessId } from '../../../src/system/process-id.js'

const editor: ProcessId = { group: 10, session: 5, ancestors: [5] }
const other: ProcessId = { group: 20, session: 6, ancestors: [6] }

interface Times {
  readonly read?: number
  readonly saved?: number
  readonly shown?: number
  readonly by?: ProcessId
}

function met(text: string, { read, saved, shown, by }: Times): Candidate {
  const at = (time: number | undefined) => (time === undefined ? undefined : instant(time))
  return {
    record: parseObject(text),
    last: instant(Math.max(read ?? 0, saved ?? 0, shown ?? 0)),
    read: at(read),
    saved: at(saved),
    outcome: undefined,
    users: by === undefined ? [] : [{ process: by, read: at(read), saved: at(saved) }],
  }
}

const edited = (known: readonly Candidate[], mine: string, by?: ProcessId) => {
  const base = chooseBase(known, { mine: parseObject(mine), by })
  return base === undefined ? undefined : [...base.edits.keys()]
}

const old = '{"a":1,"b":1}'
const theirs = '{"a":1,"b":2}'

t.test(
  'SAVE-18 the candidates are what the process has read or stored, else its session or ancestors',
  async t => {
    const known = [met(old, { read: 1, by: editor }), met(theirs, { read: 2, by: other })]
    t.same(edited(known, '{"a":9,"b":2}', editor), ['a', 'b'], 'the other text was never seen by it')
    t.same(edited(known, '{"a":9,"b":2}', other), ['a'])
    t.same(
      edited(known, '{"a":9,"b":2}', { group: 11, session: 5, ancestors: [4] }),
      ['a', 'b'],
      'of its session',
    )
    t.same(
      edited(known, '{"a":9,"b":2}', { group: 11, session: 7, ancestors: [10] }),
      ['a', 'b'],
      'its parent',
    )
    t.same(edited(known, '{"a":9,"b":2}', { group: 11, session: 7, ancestors: [] }), ['a'], 'all')
    t.same(edited(known, '{"a":9,"b":2}'), ['a'], 'all')
  },
)

t.test('SAVE-22 a text that equals a known one is an edit of the latest candidate', async t => {
  const known = [met(old, { read: 1, by: editor }), met('{"a":2,"b":1}', { saved: 2, by: editor })]
  t.same(edited(known, old, editor), ['a'], 'undone')
  t.same(edited(known, '{"a":2,"b":1}', editor), [], 'the same once more')
  t.same(
    edited([...known, met(theirs, { read: 3, by: other })], theirs, editor),
    ['a', 'b'],
    'known by another',
  )
})

t.test('SAVE-22 else the nearest; of equals the own last save, else the oldest', async t => {
  const known = [met(old, { read: 1, by: editor }), met(theirs, { read: 2, by: editor })]
  t.same(edited(known, '{"a":9,"b":1}', editor), ['a'], 'an old buffer takes nothing back')
  t.same(
    chooseBase(known, { mine: parseObject('{"a":1,"b":3}'), by: editor })?.record,
    parseObject(old),
    'the oldest',
  )
  const saved = [met(old, { read: 1, by: editor }), met('{"a":2,"b":1}', { saved: 2, by: editor })]
  t.same(
    chooseBase(saved, { mine: parseObject('{"a":3,"b":1}'), by: editor })?.record,
    parseObject('{"a":2,"b":1}'),
  )
  t.same(chooseBase(known, { mine: parseObject('{"a":1,"b":3}'), by: editor })?.asNear, [parseObject(theirs)])
})

t.test('SAVE-15 what was only shown is no candidate where anything else is', async t => {
  const known = [met(old, { read: 1 }), met(theirs, { shown: 2 })]
  t.same(edited(known, theirs), ['b'])
  t.same(edited([met(theirs, { shown: 2 })], '{"a":1,"b":3}'), ['b'])
  t.equal(edited([], old), undefined)
})

t.test(
  'SAVE-19 of a writer that is not known an old text is in doubt where another client has changed it',
  async t => {
    const known = [met(old, { read: 1 }), met(theirs, { read: 2 })]
    t.throws(() => edited(known, old), /older text/)
    t.same(
      edited([met(old, { read: 1 }), met('{"a":2,"b":1}', { saved: 2 })], old),
      ['a'],
      'an own save is undone',
    )
  },
)
