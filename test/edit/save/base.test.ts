// Which text a program had before: wrong guesses lose edits, so every way programs save is tried here.
import t from 'tap'
import { byFields, type Candidate, chooseBase, type Measure } from '../../../src/edit/save/base.js'
import { datingBy } from '../../../src/edit/save/dating.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { instant } from '../../../src/remote/remote.js'

type Times = { readonly read?: number; readonly saved?: number; readonly shown?: number }

function met(text: string, { read, saved, shown }: Times): Candidate {
  return {
    record: parseObject(text),
    last: instant(Math.max(read ?? 0, saved ?? 0, shown ?? 0)),
    read: read === undefined ? undefined : instant(read),
    saved: saved === undefined ? undefined : instant(saved),
  }
}

const edited = (known: readonly Candidate[], mine: string, own?: string) => {
  const base = chooseBase(known, parseObject(mine), own === undefined ? undefined : parseObject(own))
  return base === undefined ? undefined : [...base.edits.keys()]
}

t.test('the nearest text is the base', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":1,"b":2}', { shown: 2 })]
  t.same(edited(known, '{"a":9,"b":1}'), ['a'])
  t.same(edited(known, '{"a":9,"b":2}'), ['a'])
})

t.test('an old value beside an edit, where a newer text was read, is in doubt', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":1,"b":2}', { read: 2 })]
  t.throws(() => edited(known, '{"a":9,"b":1}'), /fits both/, 'taken back, or an old buffer')
  t.same(edited(known, '{"a":9,"b":2}'), ['a'])
  t.same(edited(known, '{"a":9,"b":3}'), ['a', 'b'])
})

t.test('the date of change in the text tells which one it was made from', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":1,"b":2}', { read: 2 })]
  const dated = (mine: string, written: string, dates: readonly (string | undefined)[], own?: number) => {
    const measure = {
      ...byFields,
      dating: datingBy(written, new Map(known.map(({ record }, at) => [record, dates[at]]))),
    }
    const held = own === undefined ? undefined : known[own]?.record
    return [...(chooseBase(known, parseObject(mine), held, measure)?.edits.keys() ?? [])]
  }
  const different = ['monday', 'tuesday']
  t.same(dated('{"a":9,"b":1}', 'monday', different), ['a'], 'an old buffer')
  t.same(dated('{"a":9,"b":1}', 'tuesday', different), ['a', 'b'], 'b was taken back')
  t.same(dated('{"a":1,"b":1}', 'tuesday', different), ['b'], 'and nothing else')
  t.same(dated('{"a":9,"b":1}', 'tuesday', different, 1), ['a', 'b'], 'as the handle had it')
  for (const [written, dates] of [
    ['monday', ['monday', 'monday']],
    ['sunday', different],
    ['monday', [undefined, undefined]],
    ['tuesday', [undefined, 'tuesday']],
  ] as const)
    t.throws(
      () => dated('{"a":9,"b":1}', written, dates),
      /fits both/,
      `${written} of ${dates.join()} tells nothing`,
    )
})

t.test('of texts equally near the one read last is the base', async t => {
  const known = [met('{"a":1,"b":1}', { read: 2 }), met('{"a":2,"b":1}', { read: 1 })]
  t.same(chooseBase(known, parseObject('{"a":3,"b":1}'))?.record, known[0]?.record)
})

t.test('where no text was ever met there is no base', async t => {
  t.equal(edited([], '{"a":1}'), undefined)
  t.same(edited([], '{"a":1}', '{"a":2}'), ['a'], 'but the one its own handle had read')
})

t.test("vim's second save does not undo what another client changed between them", async t => {
  const known = [
    met('{"a":1,"b":1}', { read: 1 }),
    met('{"a":2,"b":1}', { saved: 2 }),
    met('{"a":2,"b":7}', { read: 3 }),
  ]
  t.same(edited(known, '{"a":3,"b":1}', '{"a":2,"b":1}'), ['a'], 'the text of its first save is what it had')
  t.throws(() => edited(known, '{"a":3,"b":1}'), /fits both/, 'another program may have taken it back')
})

t.test('an edit that was saved and then undone is an edit', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":2,"b":1}', { saved: 2 })]
  t.same(edited(known, '{"a":1,"b":1}'), ['a'])
})

t.test('the same text saved again is none', async t => {
  const known = [met('{"a":1}', { read: 1 }), met('{"a":2}', { saved: 2 })]
  t.same(edited(known, '{"a":2}'), [])
})

t.test('a value that a script sets back and forth is set each time', async t => {
  const known = [
    met('{"a":1,"b":1}', { read: 1 }),
    met('{"a":2,"b":1}', { saved: 2 }),
    met('{"a":2,"b":1,"changed":5}', { read: 3 }),
  ]
  t.same(edited(known, '{"a":1,"b":4,"changed":5}'), ['a', 'b'])
})

t.test('in doubt nothing is chosen: undone and edited, or a program that never saw the save', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":2,"b":1}', { saved: 2 })]
  t.throws(() => edited(known, '{"a":1,"b":9}'), /fits both/)
})

t.test('what was only shown since leaves no doubt', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":2,"b":1}', { shown: 2 })]
  t.same(edited(known, '{"a":1,"b":9}'), ['b'])
})

t.test('an old text letter for letter, where a newer one was read, is in doubt', async t => {
  const known = [met('{"a":1}', { read: 1 }), met('{"a":2}', { read: 2 })]
  t.throws(() => edited(known, '{"a":1}'), /fits both/)
  t.same(edited(known, '{"a":1}', '{"a":2}'), ['a'], 'unless the very handle had read the newer one')
})

t.test('what the handle itself had read wins over texts as near', async t => {
  const known = [met('{"a":1,"b":1}', { read: 1 }), met('{"a":2,"b":1}', { read: 2 })]
  t.same(
    chooseBase(known, parseObject('{"a":3,"b":1}'), parseObject('{"a":1,"b":1}'))?.record,
    parseObject('{"a":1,"b":1}'),
  )
  t.same(edited(known, '{"a":2,"b":5}', '{"a":1,"b":1}'), ['b'], 'and not over nearer ones')
})

t.test('what the service has filled in raises no doubt, another change does', async t => {
  const filled = parseObject('{"a":[{"id":1,"title":null}],"b":1}')
  const measure: Measure = {
    ...byFields,
    isSame: (record, edits) => edits.size === 0 || JSON.stringify(record) === JSON.stringify(filled),
  }
  const chosen = (known: readonly Candidate[], mine: string) => [
    ...(chooseBase(known, parseObject(mine), undefined, measure)?.edits.keys() ?? []),
  ]
  const [mine, theirs] = ['{"a":[{"id":1}],"b":1}', '{"a":[{"id":2}],"b":1}']
  const shown = prettyPrint(filled)
  t.same(chosen([met(mine, { saved: 1 }), met(shown, { read: 2 })], mine), ['a'], 'as it was read')
  t.same(chosen([met(shown, { saved: 1 }), met(theirs, { saved: 2 })], mine), ['a'], 'it is taken back')
  const read = [met(mine, { saved: 1 }), met(shown, { read: 2 }), met(theirs, { read: 3 })]
  t.throws(() => chosen(read, mine), /fits both/)
})
