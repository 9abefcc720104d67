// What may happen next, as plain data: a sequence that fails can be kept in a table as it was printed.
import fc from 'fast-check'
import { type Style, styles } from './actions/writing.js'
import type { Kind } from './expected/content.js'

/** What a user changes in a text; `by` says where. */
export const changes = [
  'description',
  'name',
  'title',
  'reverse',
  'drop',
  'add',
  'add by path',
  'retitle',
  'twice the same',
  'permission',
  'no JSON',
  'nothing',
  'spaces',
  'bad type',
  'bad calculation',
  'bad permission',
] as const
export type Change = (typeof changes)[number]

export type Step =
  | {
      readonly does: 'edit'
      readonly kind: Kind
      readonly at: number
      readonly change: Change
      readonly by: number
      readonly style: Style
    }
  | {
      readonly does: 'order'
      readonly at: number
      readonly change: Change | 'empty'
      readonly by: number
      readonly style: Style
    }
  | { readonly does: 'drop draft' | 'read theirs'; readonly at: number }
  | { readonly does: 'remount' | 'leave' | 'back' }
  | { readonly does: 'pass'; readonly milliseconds: number }
  | { readonly does: 'touch'; readonly at: number }
  | {
      readonly does: 'elsewhere'
      readonly kind: Kind
      readonly at: number
      readonly change: 'description' | 'name' | 'reverse' | 'drop' | 'permission' | 'delete' | 'make'
    }
  | {
      readonly does: 'mkdir'
      readonly at: number
      readonly name: 'fresh' | 'odd' | 'taken' | 'in a calculation'
    }
  | {
      readonly does: 'rename'
      readonly kind: 'project' | 'calculation'
      readonly at: number
      readonly to: 'fresh' | 'odd' | 'taken' | 'elsewhere'
    }
  | { readonly does: 'rmdir'; readonly kind: 'project' | 'calculation'; readonly at: number }
  | {
      readonly does: 'rm -r'
      readonly kind: 'project' | 'calculation'
      readonly at: number
      readonly stops: boolean
      /** What happens in the pause. */
      readonly meanwhile?: 'wait' | 'touch' | 'touch the project' | 'remount' | undefined
    }
  | {
      readonly does: 'rm'
      readonly kind: 'report' | 'share'
      readonly at: number
      readonly next: 'wait' | 'make again' | 'remount'
    }
  | {
      readonly does: 'new report'
      readonly slot: number
      readonly flaw: 'none' | 'bad type' | 'no JSON' | 'bad calculation' | 'no list'
    }
  | {
      readonly does: 'new share'
      readonly at: number
      readonly who: number
      readonly flaw: 'none' | 'bad permission'
    }
  | { readonly does: 'scratch'; readonly at: number; readonly how: 'write' | 'rename' | 'unlink' }
  | { readonly does: 'forbidden'; readonly at: number }

const at = fc.nat({ max: 5 })
const style = fc.constantFrom(...styles)
const constant = <const Word extends string>(word: Word) => fc.constant(word)

const forReports = [
  ...([
    'description',
    'title',
    'reverse',
    'drop',
    'add',
    'add by path',
    'retitle',
    'twice the same',
  ] as const),
  ...([
    'no JSON',
    'nothing',
    'spaces',
    'bad type',
    'bad calculation',
    'name',
    'description',
    'title',
  ] as const),
]

const edits = {
  report: fc.record({
    does: constant('edit'),
    kind: constant('report'),
    at,
    change: fc.constantFrom(...forReports),
    by: at,
    style,
  }),
  folder: fc.record({
    does: constant('edit'),
    kind: fc.constantFrom('project', 'calculation'),
    at,
    change: fc.constantFrom('description', 'description', 'name', 'no JSON', 'nothing', 'spaces'),
    by: at,
    style,
  }),
  share: fc.record({
    does: constant('edit'),
    kind: constant('share'),
    at,
    change: fc.constantFrom('permission', 'permission', 'bad permission', 'no JSON', 'nothing'),
    by: at,
    style,
  }),
  order: fc.record({
    does: constant('order'),
    at,
    change: fc.constantFrom(
      'reverse',
      'drop',
      'add',
      'add by path',
      'retitle',
      'bad calculation',
      'empty',
      'nothing',
    ),
    by: at,
    style: fc.constantFrom('overwrite', 'in place', 'with fsync'),
  }),
} satisfies Record<string, fc.Arbitrary<Step>>

const elsewhere: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: constant('elsewhere'),
    kind: constant('report'),
    at,
    change: fc.constantFrom('description', 'name', 'reverse', 'drop', 'description', 'delete'),
  }),
  fc.record({
    does: constant('elsewhere'),
    kind: fc.constantFrom('project', 'calculation'),
    at,
    change: fc.constantFrom('description', 'name', 'make', 'delete'),
  }),
  fc.record({
    does: constant('elsewhere'),
    kind: constant('share'),
    at,
    change: fc.constantFrom('permission', 'delete'),
  }),
)

const time: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: constant('pass'), milliseconds: fc.constantFrom(2_500, 13_000, 33_000) }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'pass', milliseconds: 601_000 } as const) },
  { weight: 2, arbitrary: fc.record({ does: constant('touch'), at }) },
  { weight: 1, arbitrary: fc.constant({ does: 'remount' } as const) },
)

const outage: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ does: 'leave' } as const) },
  { weight: 2, arbitrary: fc.constant({ does: 'back' } as const) },
)

const folders: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: constant('mkdir'),
      at,
      name: fc.constantFrom('fresh', 'fresh', 'odd', 'taken', 'in a calculation'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: constant('rename'),
      kind: fc.constantFrom('project', 'calculation'),
      at,
      to: fc.constantFrom('fresh', 'fresh', 'odd', 'taken', 'elsewhere'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: constant('rmdir'),
      kind: fc.constantFrom('project', 'project', 'calculation'),
      at,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: constant('rm -r'),
      kind: fc.constantFrom('calculation', 'calculation', 'calculation', 'project'),
      at,
      stops: fc.boolean(),
      meanwhile: fc.constantFrom('wait', 'wait', 'wait', 'touch', 'touch the project', 'remount'),
    }),
  },
)

const records: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: constant('new report'),
      slot: fc.nat({ max: 2 }),
      flaw: fc.constantFrom('none', 'none', 'no list', 'bad type', 'no JSON', 'bad calculation'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: constant('new share'),
      at,
      who: fc.nat({ max: 3 }),
      flaw: fc.constantFrom('none', 'none', 'bad permission'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: constant('rm'),
      kind: fc.constantFrom('report', 'share'),
      at,
      next: fc.constantFrom('wait', 'make again', 'remount'),
    }),
  },
)

const others: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('drop draft', 'read theirs'), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: constant('scratch'),
      at,
      how: fc.constantFrom('write', 'rename', 'unlink'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: constant('forbidden'), at }) },
)

/** Any step, those that are most of a day's work most often. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: edits.report },
  { weight: 4, arbitrary: edits.folder },
  { weight: 2, arbitrary: edits.share },
  { weight: 3, arbitrary: edits.order },
  { weight: 7, arbitrary: elsewhere },
  { weight: 6, arbitrary: time },
  { weight: 2, arbitrary: outage },
  { weight: 6, arbitrary: folders },
  { weight: 5, arbitrary: records },
  { weight: 4, arbitrary: others },
)
