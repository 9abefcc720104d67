// What may happen next, drawn as plain data: a sequence that fails can be kept in a table as it was printed.
import type { Chance } from '../long/chance.js'
import { styles } from './actions/writing.js'

/** One of these, each as often as its number says. */
function mixed<const All extends readonly (readonly [number, () => unknown])[]>(
  pick: Chance,
  ...all: All
): ReturnType<All[number][1]> {
  const draws = all.flatMap(([weight, draw]) => Array.from({ length: weight }, () => draw))
  return pick.of(draws)() as ReturnType<All[number][1]>
}

/** What a user changes in a text; `by` says where. */
const ofReports = [
  ...(['description', 'title', 'reverse', 'drop', 'add', 'add by path', 'retitle'] as const),
  ...(['twice the same', 'no JSON', 'nothing', 'spaces', 'bad type', 'bad calculation'] as const),
  ...(['name', 'description', 'title'] as const),
] as const
const ofFolders = ['description', 'description', 'name', 'no JSON', 'nothing', 'spaces'] as const
const ofShares = ['permission', 'permission', 'bad permission', 'no JSON', 'nothing'] as const
const ofOrders = [
  ...(['reverse', 'drop', 'add', 'add by path', 'retitle', 'bad calculation', 'empty', 'nothing'] as const),
] as const
export type Change = (typeof ofReports | typeof ofFolders | typeof ofShares | typeof ofOrders)[number]

const reportsElsewhere = ['description', 'name', 'reverse', 'drop', 'description', 'delete'] as const
const foldersElsewhere = ['description', 'name', 'make', 'delete'] as const
/** What happens in the pause after `rm -r`. */
const meanwhiles = ['wait', 'wait', 'wait', 'touch', 'touch the project', 'remount'] as const
const names = ['fresh', 'fresh', 'odd', 'taken'] as const
const flaws = ['none', 'none', 'no list', 'bad type', 'no JSON', 'bad calculation'] as const

/** Any step, those that are most of a day's work most often. */
export function anyStep(pick: Chance) {
  const { of } = pick
  const at = () => pick.whole(0, 5)
  const folder = () => of(['project', 'calculation'] as const)
  const does = <const Word extends string, const Drawn extends object>(word: Word, drawn: Drawn) => ({
    does: word,
    ...drawn,
  })
  const edit = <const Kind extends string, One extends Change>(kind: Kind, changes: readonly One[]) =>
    does('edit', { kind, at: at(), change: of(changes), by: at(), style: of(styles) })
  const elsewhere = <const Kind extends string, const One extends string>(
    kind: Kind,
    changes: readonly One[],
  ) => does('elsewhere', { kind, at: at(), change: of(changes) })
  const ordered = () => ({
    ...{ at: at(), change: of(ofOrders), by: at() },
    style: of(['overwrite', 'in place', 'with fsync'] as const),
  })
  const removed = () => ({
    ...{ kind: of(['calculation', 'calculation', 'calculation', 'project'] as const), at: at() },
    ...{ stops: pick.once(2), meanwhile: of(meanwhiles) },
  })
  return mixed(
    pick,
    [160, () => edit('report', ofReports)],
    [80, () => edit(folder(), ofFolders)],
    [40, () => edit('share', ofShares)],
    [60, () => does('order', ordered())],
    [47, () => elsewhere('report', reportsElsewhere)],
    [47, () => elsewhere(folder(), foldersElsewhere)],
    [47, () => elsewhere('share', ['permission', 'delete'] as const)],
    [60, () => does('pass', { milliseconds: of([2_500, 13_000, 33_000]) })],
    [15, () => does('pass', { milliseconds: 601_000 })],
    [30, () => does('touch', { at: at() })],
    [15, () => does('remount', {})],
    [13, () => does('leave', {})],
    [27, () => does('back', {})],
    [33, () => does('mkdir', { at: at(), name: of([...names, 'in a calculation'] as const) })],
    [33, () => does('rename', { kind: folder(), at: at(), to: of([...names, 'elsewhere'] as const) })],
    [33, () => does('rmdir', { kind: of(['project', 'project', 'calculation'] as const), at: at() })],
    [22, () => does('rm -r', removed())],
    [43, () => does('new report', { slot: pick.whole(0, 2), flaw: of(flaws) })],
    [
      28,
      () =>
        does('new share', {
          ...{ at: at(), who: pick.whole(0, 3) },
          flaw: of(['none', 'none', 'bad permission'] as const),
        }),
    ],
    [
      28,
      () =>
        does('rm', {
          ...{ kind: of(['report', 'share'] as const), at: at() },
          next: of(['wait', 'make again', 'remount'] as const),
        }),
    ],
    [40, () => does(of(['drop draft', 'read theirs'] as const), { at: at() })],
  )
}
export type Step = ReturnType<typeof anyStep>
