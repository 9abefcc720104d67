// What may happen next, as plain data: a sequence that fails can be kept in a table as it was printed.
import fc from 'fast-check'
import { styles } from './actions/writing.js'

/** A step of this kind, with what is drawn for it. */
const does = <const Word extends string, const Drawn extends object>(
  word: Word,
  drawn: { readonly [Name in keyof Drawn]: fc.Arbitrary<Drawn[Name]> },
) => fc.record({ does: fc.constant(word), ...drawn }) as fc.Arbitrary<{ does: Word } & Drawn>

type ValueOf<One> = One extends fc.Arbitrary<infer Value> ? Value : never

/** One of these, each as often as its number says. */
const mixed = <const All extends readonly (readonly [number, fc.Arbitrary<unknown>])[]>(...all: All) =>
  fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary }))) as fc.Arbitrary<
    ValueOf<All[number][1]>
  >

const one = fc.constantFrom
const at = fc.nat({ max: 5 })
const by = at
const style = one(...styles)
const folder = one('project', 'calculation')

/** What a user changes in a text; `by` says where. */
const ofReports = one(
  ...(['description', 'title', 'reverse', 'drop', 'add', 'add by path', 'retitle'] as const),
  ...(['twice the same', 'no JSON', 'nothing', 'spaces', 'bad type', 'bad calculation'] as const),
  ...(['name', 'description', 'title'] as const),
)
const ofFolders = one('description', 'description', 'name', 'no JSON', 'nothing', 'spaces')
const ofShares = one('permission', 'permission', 'bad permission', 'no JSON', 'nothing')
const ofOrders = one(
  ...(['reverse', 'drop', 'add', 'add by path', 'retitle', 'bad calculation', 'empty', 'nothing'] as const),
)
export type Change = ValueOf<typeof ofReports | typeof ofFolders | typeof ofShares | typeof ofOrders>

const elsewhere = fc.oneof(
  does('elsewhere', {
    kind: one('report'),
    at,
    change: one('description', 'name', 'reverse', 'drop', 'description', 'delete'),
  }),
  does('elsewhere', { kind: folder, at, change: one('description', 'name', 'make', 'delete') }),
  does('elsewhere', { kind: one('share'), at, change: one('permission', 'delete') }),
)

const time = mixed(
  [4, does('pass', { milliseconds: one(2_500, 13_000, 33_000) })],
  [1, does('pass', { milliseconds: one(601_000) })],
  [2, does('touch', { at })],
  [1, does('remount', {})],
)

const outage = mixed([1, does('leave', {})], [2, does('back', {})])

const folders = mixed(
  [3, does('mkdir', { at, name: one('fresh', 'fresh', 'odd', 'taken', 'in a calculation') })],
  [3, does('rename', { kind: folder, at, to: one('fresh', 'fresh', 'odd', 'taken', 'elsewhere') })],
  [3, does('rmdir', { kind: one('project', 'project', 'calculation'), at })],
  [
    2,
    does('rm -r', {
      kind: one('calculation', 'calculation', 'calculation', 'project'),
      at,
      stops: fc.boolean(),
      // What happens in the pause.
      meanwhile: one('wait', 'wait', 'wait', 'touch', 'touch the project', 'remount'),
    }),
  ],
)

const flaw = one('none', 'none', 'no list', 'bad type', 'no JSON', 'bad calculation')

const records = mixed(
  [3, does('new report', { slot: fc.nat({ max: 2 }), flaw })],
  [2, does('new share', { at, who: fc.nat({ max: 3 }), flaw: one('none', 'none', 'bad permission') })],
  [2, does('rm', { kind: one('report', 'share'), at, next: one('wait', 'make again', 'remount') })],
)

const others = mixed(
  [2, fc.record({ does: one('drop draft', 'read theirs'), at })],
  [1, does('scratch', { at, how: one('write', 'rename', 'unlink') })],
  [1, does('forbidden', { at })],
)

/** Any step, those that are most of a day's work most often. */
export const anyStep = mixed(
  [8, does('edit', { kind: one('report'), at, change: ofReports, by, style })],
  [4, does('edit', { kind: folder, at, change: ofFolders, by, style })],
  [2, does('edit', { kind: one('share'), at, change: ofShares, by, style })],
  [3, does('order', { at, change: ofOrders, by, style: one('overwrite', 'in place', 'with fsync') })],
  [7, elsewhere],
  [6, time],
  [2, outage],
  [6, folders],
  [5, records],
  [4, others],
)
export type Step = ValueOf<typeof anyStep>
