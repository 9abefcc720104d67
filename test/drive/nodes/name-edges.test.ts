// Names at their edges: exactly 255 bytes, cuts inside escapes, marks that are none, and numbers of any length.
import { createHash } from 'node:crypto'
import t from 'tap'
import {
  compareIds,
  escapeTitle,
  longestName,
  markedName,
  nameChildren,
  nameFiles,
  splitMark,
  titleOf,
  titleWritten,
} from '../../../src/drive/nodes/name.js'

const bytes = (name: string): number => Buffer.byteLength(name)
const alone = (title: string): string => nameChildren([{ kind: 'calculation', id: '12', title }])[0] ?? ''

t.test('NAME-1 a name of 255 bytes stays, one more is cut and marked', async t => {
  for (const letter of ['a', 'é', '水', '😀']) {
    const most = letter.repeat(Math.floor(longestName / bytes(letter)))
    const fill = 'x'.repeat(longestName - bytes(most))
    t.equal(alone(most + fill), most + fill, `${letter}: all of it`)
    const cut = alone(`${most}${fill}x`)
    t.match(cut, /~c12$/)
    t.ok(bytes(cut) <= longestName && bytes(cut) > longestName - 4 - 3, `${bytes(cut)} bytes of ${letter}`)
    t.ok(most.startsWith(cut.slice(0, -4)), 'cut at a whole character')
  }
})

t.test('NAME-1 a cut never falls into an escape', async t => {
  for (let before = 0; before < 12; before++) {
    for (const [title, escaped] of [
      ['/', '%2F'],
      ['\ud800', '%uD800'],
      ['\u2028', '%E2%80%A8'],
    ] as const) {
      const name = alone('a'.repeat(before) + title.repeat(200))
      const body = name.slice(before, -4)
      t.ok(bytes(name) <= longestName)
      const rest = body.replaceAll(/%u[0-9A-F]{4}|%[0-9A-F]{2}/g, '')
      t.equal(rest, '', `${escaped} after ${before}: ${body.slice(-8)}`)
      t.ok(bytes(name) > longestName - bytes(escaped), 'no shorter than it must be')
    }
  }
})

t.test('NAME-1 only what reads as an escape is escaped itself', async t => {
  const stay = ['100%', '%2', '%2g', '%u12', '%u123g', ' a', '...', 'a.', 'a..', 'x.project.json', '.profile']
  for (const [title, name] of [
    ...stay.map(title => [title, title] as const),
    ['%u1234', '%25u1234'],
    ['%41', '%2541'],
    ['a%2Fb%2F', 'a%252Fb%252F'],
    ['', '%empty'],
    ['%empty', '%25empty'],
    ['a\u0085b', 'a%C2%85b'],
    ['a\t', 'a%09'],
    ['a\u3000', 'a%E3%80%80'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['.project.json2', '%2Eproject.json2'],
    ['.index.tsv', '%2Eindex.tsv'],
    ['.shares', '%2Eshares'],
    ['.#lock', '%2E#lock'],
  ] as const) {
    t.equal(escapeTitle(title), name)
    t.equal(titleOf(name), title)
    t.equal(titleWritten(name), title, 'also as the name of something new')
  }
})

t.test('NAME-3 a mark is one only at the end, with a number or sixteen digits', async t => {
  for (const name of 'a~c a~c1x a~d12 a~h0123456789abcde a~h0123456789abcdeg a~C12 ~c12/b'.split(' '))
    t.equal(splitMark(name), undefined, name)
  t.same(splitMark('a~c1~p2'), { bare: 'a~c1', letter: 'p', id: '2' })
  t.same(splitMark('~c12'), { bare: '', letter: 'c', id: '12' })
  t.same(splitMark('a\nb~p7'), { bare: 'a\nb', letter: 'p', id: '7' })
  t.same(splitMark('x~h0123456789abcdef'), { bare: 'x', letter: 'h', id: '0123456789abcdef' })
  for (const title of ['a~c12', 'a~p12.xyz', 'a~h0123456789abcdef', '~c12~c13'])
    t.not(escapeTitle(title), title, `${title} cannot pretend`)
  for (const title of ['a~c12 b', 'a~c12.log', 'a~b', '~', 'x~c12x'])
    t.equal(escapeTitle(title), title, `${title} is no mark`)
  t.equal(markedName({ kind: 'project', id: '7', title: 'A/B' }), 'A%2FB~p7')
  t.equal(titleOf('A%2FB~p7'), 'A/B')
  for (const name of ['A~p7', '50%50', '100%94', 'a%20b'])
    t.equal(titleWritten(name), name, 'it is the name of something new as it stands')
})

t.test('NAME-1 a file’s name that is too long is marked with a hash of the whole', async t => {
  const titles = ['a'.repeat(255), 'a'.repeat(256), `${'a'.repeat(256)}b`]
  const files = nameFiles(titles)
  const hash = (title: string) => createHash('sha256').update(title).digest('hex').slice(0, 16)
  t.same(
    [...files.keys()],
    [
      'a'.repeat(255),
      `${'a'.repeat(237)}~h${hash('a'.repeat(256))}`,
      `${'a'.repeat(237)}~h${hash(`${'a'.repeat(256)}b`)}`,
    ],
  )
  t.same([...files.values()], titles)
})

t.test('NAME-3 numbers are compared as numbers, however long', async t => {
  t.ok(compareIds('9', '10') < 0)
  t.ok(compareIds('10', '9') > 0)
  t.ok(compareIds('9007199254740992', '9007199254740993') < 0)
  t.ok(compareIds('9007199254740993', '9007199254740992') > 0)
  t.equal(compareIds('7', '7'), 0)
  const twins = [
    { kind: 'calculation', id: '7', title: 'A' },
    { kind: 'project', id: '7', title: 'A' },
    { kind: 'project', id: '6', title: 'A' },
  ] as const
  t.same(nameChildren(twins), ['A~c7', 'A~p7', 'A'])
  t.same(nameChildren(twins.toReversed()), ['A', 'A~p7', 'A~c7'])
})
