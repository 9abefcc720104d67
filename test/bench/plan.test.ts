// The plan of the benchmark: what is asked for is known, the time is kept, and no target is told of what was not measured.
import t from 'tap'
import { optionsOf } from '../../bench/plan/options.js'
import { onceTime, openPace, type Part } from '../../bench/plan/pace.js'
import { planOf } from '../../bench/plan/plan.js'
import { partsOf } from '../../bench/plan/session.js'
import { targets } from '../../bench/report/targets.js'
import type { Cell } from '../../bench/run/cells.js'
import { contenders } from '../../bench/run/contenders.js'
import { unread } from '../../bench/run/reading.js'
import { scaleSeconds } from '../../bench/run/scale.js'
import type { Figures, Verdicts } from '../../bench/run/trial.js'

/** Everything, as on a machine where every peer is installed. */
function wholePlan(): readonly Part[] {
  const options = optionsOf([])
  return partsOf(planOf(options), contenders(options).all, [])
}

t.test('a wrong name is told with the right ones', async t => {
  t.throws(
    () => contenders(optionsOf(['--peers', 'calcfs,rclonee'])),
    /"rclonee"; there are: .*davfs2, sshfs/,
  )
  t.throws(() => contenders(optionsOf(['--peers', ''])), /there is no contender ""/)
  t.throws(() => optionsOf(['--work', 'ls-LR']), /no workload ls-LR; there are: ls-lR, find/)
  t.throws(() => optionsOf(['--tree', 'labs']), /no tree labs; there are: lab, wide/)
  t.throws(() => optionsOf(['--link', 'wire']), /no link wire; there are: plain, tls, line/)
  t.throws(() => optionsOf(['--runs', 'three']), /--runs has to be whole numbers/)
  t.equal(optionsOf(['--help']).help, true)
})

t.test('a whole run meets every distance, every link and every peer, its targets first', async t => {
  const parts = wholePlan()
  const at = (roundTrip: number, link = 'plain') =>
    new Set(
      parts
        .filter(({ item }) => item.roundTrip === roundTrip && item.link === link)
        .map(({ contender }) => contender.name),
    )
  for (const roundTrip of [0, 10, 30])
    for (const peer of ['rclone http full', 'rclone webdav full', 'httpdirfs', 'davfs2', 'sshfs'])
      t.ok(at(roundTrip).has(peer), `${peer} at ${roundTrip} ms`)
  for (const roundTrip of [0, 30])
    for (const peer of ['rclone http', 'rclone webdav'])
      t.ok(at(roundTrip).has(peer), `${peer} at ${roundTrip} ms`)
  t.same([...at(100)].sort(), ['calcfs', 'davfs2', 'raw ×16', 'raw ×64'], 'far away the fastest alone')
  t.same([...at(30, 'tls')].sort(), ['calcfs', 'raw ×16', 'raw ×64'], 'the other doors have no certificate')
  t.ok(at(30, 'line').has('calcfs'))
  t.notOk(at(30).has('pass-through'), 'a floor is as near everywhere')
})

t.test('a whole run fits into its minutes, and on a slow machine the targets are measured first', async t => {
  const parts = wholePlan()
  const once = parts.reduce((sum, part) => sum + onceTime(part), 0)
  t.ok(once + scaleSeconds < optionsOf([]).minutes * 60, `${Math.round(once)} s, each once`)
  let now = 0
  const pace = openPace({ seconds: once / 2, now: () => now })
  const measured = parts.filter(part => {
    const isTime = pace.isTimeFor(part)
    if (isTime) now += onceTime(part) * 1.2
    return isTime
  })
  t.ok(now <= once / 2 + 60, 'nothing is begun that would end after its time')
  const [first] = parts
  t.ok(measured.length > parts.length / 5 && first !== undefined && measured.includes(first))
  t.notOk(pace.isTimeFor({ ...(first as Part) }, once), 'a part that took long before is not begun again')
})

const right = (figures: Partial<Figures> & { seconds: number }): Verdicts => {
  const verdict = { state: 'right', runs: 1, figures } as const
  return { cold: verdict, warm: verdict, remount: verdict }
}

const cell = (place: Partial<Cell>, verdicts: Verdicts): Cell => ({
  ...{ tree: 'lab', roundTrip: 0, link: 'plain', work: 'cp', contender: 'calcfs' },
  ...place,
  verdicts,
  took: 1,
})

t.test('a target is a ratio of one run, and one whose parts are missing says so', async t => {
  const cells = [
    cell({}, right({ seconds: 4, cpuSeconds: 7, files: 3500 })),
    cell({ contender: 'pass-through' }, right({ seconds: 2, cpuSeconds: 1.5 })),
    cell({ contender: 'davfs2' }, right({ seconds: 5 })),
    cell({ contender: 'sshfs' }, { cold: { state: 'late', limitSeconds: 20 } }),
    cell({ contender: 'raw ×16' }, right({ seconds: 1, cpuSeconds: 1 })),
    // Of another tree, and over another link: neither is what the targets are about.
    cell({ contender: 'rclone http', tree: 'small' }, right({ seconds: 1 })),
    cell({ contender: 'rclone http', link: 'line' }, right({ seconds: 1 })),
    cell({ work: 'cp-part', roundTrip: 30 }, right({ seconds: 2, contentBytes: 100e6, unreadBytes: 20e6 })),
    cell(
      { work: 'cp-part', roundTrip: 30, contender: 'sshfs' },
      { cold: { state: 'late', limitSeconds: 6 } },
    ),
  ]
  const found = new Map(targets(cells, []).map(target => [target.what, target]))
  const used = (what: string) => found.get(what)?.used
  t.equal(used('`cp -r` lab cold, 0 ms; fastest peer: ≤ 1 ×'), 0.8)
  t.equal(used('`cp -r` lab cold, 0 ms; pass-through: ≤ 1.6 ×'), 2 / 1.6)
  t.equal(used('processor seconds of that cold copy; raw + pass-through: ≤ 2 ×'), 1.4)
  t.equal(used('processor time of a file of it: ≤ 1.6 ms'), 2 / 1.6)
  t.equal(used('fetched and never read, in the copy of a fifth: ≤ 10 %'), 2)
  t.equal(used('`cp -r` of a fifth, 30 ms; every peer: ≥ 12 × faster'), 4, 'no peer came to its end')
  t.equal(used('`ls -lR` cold, 0 ms; pass-through + raw ×64: ≤ 1.3 ×'), undefined)
  t.equal(used('mounted, empty cache: ≤ 0.6 s'), undefined)
})

t.test('what was fetched is held against what the workload reads', async t => {
  // The first calculation of the lab, and one of its last.
  const contents = [
    ['10000/output.out', 1000],
    ['10000/run.log', 500],
    ['10499/output.out', 4000],
  ] as const
  t.same(unread(contents, 'lab', 'cp'), { contentBytes: 5500, unreadBytes: 0 })
  t.same(unread(contents, 'lab', 'cp-part'), { contentBytes: 5500, unreadBytes: 4000 })
  t.same(unread(contents, 'lab', 'md5-P8'), { contentBytes: 5500, unreadBytes: 500 })
  t.same(unread(contents, 'lab', 'ls-lR'), { contentBytes: 5500, unreadBytes: 5500 })
  t.same(unread([['10000/trajectory.trj', 10_000]], 'big', 'head'), {
    contentBytes: 10_000,
    unreadBytes: 5904,
  })
  t.same(unread(contents, 'lab', 'random'), {}, 'pages at random places are not known')
})
