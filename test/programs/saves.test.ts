// The base of a save: what each kind of program means by its text, whatever others have changed before it saves.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { printed, python, run } from '../testbed/programs.js'
import { writes } from '../testbed/service.js'
import { namesOf } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { warmMount } from '../testbed/warm-mount.js'
import { succeeds, until } from '../testbed/within.js'
import { type Habit, kinds, ways } from './savers.js'
import { type Saving, savesOnce, savingGround, together } from './saving.js'

const before = 'Before00'
const [first, second, theirs] = ['First000', 'Second00', 'Theirs00']

/** What happens before which pause of a program. */
interface Event {
  readonly save: number
  readonly at: 'read' | 'save'
  readonly change: 'their description' | 'their title' | 'our description'
  /** Another program of this mount has read it by then. */
  readonly isSeen: boolean
}

interface Outcome {
  readonly title: string
  readonly description: string
  readonly refused: boolean
}

interface Situation {
  readonly name: string
  readonly titles: readonly string[]
  readonly event?: Event
  /** Undefined where it cannot happen to programs of that habit. */
  due(habit: Habit): Outcome | undefined
}

const stored = (title: string, description = ''): Outcome => ({ title, description, refused: false })
const refused: Outcome = { title: theirs, description: '', refused: true }
const event = (change: Event['change'], isSeen: boolean, save = 0, at: Event['at'] = 'save'): Event => ({
  save,
  at,
  change,
  isSeen,
})
const onlyRereading = (habit: Habit, due: Outcome) => (habit === 'rereads' ? due : undefined)
/** A program that reads at the save has seen what is shown then. */
const conflictOf = (habit: Habit, title: string) => (habit === 'at once' ? stored(title) : refused)

const situations: readonly Situation[] = [
  { name: 'nothing, twice', titles: [first, second], due: () => stored(second) },
  { name: 'undone', titles: [first, before], due: () => stored(before) },
  {
    name: 'another field',
    titles: [first],
    event: event('their description', false),
    due: () => stored(first, theirs),
  },
  {
    name: 'another field, which others have read',
    titles: [first],
    event: event('their description', true),
    due: () => stored(first, theirs),
  },
  {
    name: 'another field by a program of this mount',
    titles: [first],
    event: event('our description', true),
    due: () => stored(first, theirs),
  },
  {
    name: 'another field before the second save',
    titles: [first, second],
    event: event('their description', true, 1),
    due: () => stored(second, theirs),
  },
  {
    name: 'undone after another field was changed',
    titles: [first, before],
    event: event('their description', true, 1),
    due: () => stored(before, theirs),
  },
  {
    name: 'the same field',
    titles: [first],
    event: event('their title', false),
    due: habit => (habit === 'at once' ? undefined : refused),
  },
  {
    name: 'the same field, which others have read',
    titles: [first],
    event: event('their title', true),
    due: habit => conflictOf(habit, first),
  },
  {
    name: 'the same field before the second save',
    titles: [first, second],
    event: event('their title', true, 1),
    due: habit => conflictOf(habit, second),
  },
  {
    name: 'the same field before it is read again',
    titles: [first, second],
    event: event('their title', true, 1, 'read'),
    due: habit => onlyRereading(habit, stored(second)),
  },
  {
    name: 'taken back after it was read',
    titles: [first, first],
    event: event('their title', true, 1, 'read'),
    due: habit => onlyRereading(habit, stored(first)),
  },
]

interface Case extends Saving {
  readonly situation: Situation
  readonly due: Outcome
}

const able = kinds.filter(({ script }) => process.getuid?.() === 0 || !script.includes('unshare'))
/** Each kind while nothing happens. */
const calm = [...able, ...ways].map((kind, at) => ({ kind, titles: [first], id: String(500 + at) }))
const casesWanted = process.env['CALCFS_TEST_FULL'] === undefined ? 48 : 95

/** As many situations as are wanted. */
function drawCases(draw: (below: number) => number): readonly Case[] {
  return Array.from({ length: casesWanted }, (_, at) => {
    const kind = able[at % able.length] as (typeof able)[number]
    const possible = situations.flatMap(situation => {
      const due = situation.due(kind.habit)
      return due === undefined ? [] : [{ situation, due, titles: situation.titles }]
    })
    const chosen = possible[draw(possible.length)] as (typeof possible)[number]
    return { kind, ...chosen, id: String(600 + at) }
  })
}

t.test('SAVE-18 SAVE-19 SAVE-22 the base of a save, of all kinds of programs', async t => {
  const { seed, draw } = drawnFrom()
  const cases = drawCases(draw)
  const ground = await savingGround(t, warmMount, { all: [...calm, ...cases], before })
  const { testbed, carriedOut, fileOf } = ground
  const { service } = testbed
  await savesOnce(t, ground, calm)

  const now = async (id: string): Promise<Record<string, unknown>> =>
    JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))
  const shown = async (id: string): Promise<string> => (await run('setsid', ['cat', fileOf(id)])).stdout

  async function happens({ change, isSeen }: Event, id: string): Promise<void> {
    const field = change === 'their title' ? 'title' : 'description'
    if (change === 'our description') {
      const edit = `import json, sys
record = json.load(open(sys.argv[1]))
json.dump({**record, "description": "${theirs}"}, open(sys.argv[1], "w"), indent=2)`
      await run('setsid', [python, '-c', edit, fileOf(id)])
    } else await service.edit('report', id, { [field]: theirs })
    if (isSeen)
      await until(
        60_000,
        `${id} shows it`,
        async () => (await shown(id)).includes(`"${field}": "${theirs}"`),
        300,
      )
  }

  /** The program was told, or the text waits. */
  async function cameOf(id: string, said: string): Promise<Outcome> {
    const { title, description } = await now(id)
    const waits = (await namesOf(testbed, '.calcfs/drafts')).includes(`${id}.json`)
    const isTold = /Stale file handle|ESTALE|E\d+: |rror writing/.test(said)
    return { title: String(title), description: String(description ?? ''), refused: waits || isTold }
  }

  const isSame = (one: Outcome, other: Outcome): boolean => JSON.stringify(one) === JSON.stringify(other)
  const wrong: string[] = []
  const lost: string[] = []
  const judge = async (one: Case): Promise<void> => {
    const { event } = one.situation
    const said = await carriedOut(one, async (at, saves) => {
      if (event?.save === saves && event.at === at) await happens(event, one.id)
    })
    const isDue = async () => isSame(await cameOf(one.id, said), one.due)
    if (await succeeds(until(20_000, 'what is due', isDue, 500))) return
    const found = await cameOf(one.id, said)
    const told = `${one.kind.name}: ${one.situation.name}: ${JSON.stringify(found)} ${said}`
    wrong.push(told)
    const [isDueTheirs, hasTheirs] = [one.due, found].map(came =>
      [came.title, came.description].includes(theirs),
    )
    if (isDueTheirs && !hasTheirs) lost.push(told)
  }
  await Promise.all(cases.map(one => together(() => judge(one))))
  t.comment(`${cases.length - wrong.length} of ${cases.length} right, seed ${seed}`)
  for (const told of wrong) t.comment(told)
  for (const { kind, situation, id } of cases.filter(({ situation }) => situation.event === undefined)) {
    const puts = service.heard.filter(({ method, body }) => method === 'PUT' && body.includes(`"id":${id},`))
    t.equal(puts.length, situation.titles.length, `${kind.name}: ${situation.name}: each save is one update`)
  }
  const others = writes(service.heard).filter(line => !['POST /login', 'PUT /report'].includes(line))
  t.same(others, [], 'nothing else is changed')
  t.same(lost, [], `no change of another client is lost, seed ${seed}`)
  t.ok(wrong.length <= 5, `at least 90 of 95 right, seed ${seed}: ${wrong.join('; ')}`)
})

t.test('TIME-2 vim asks nothing where it opens the record right after another vim saved it', async t => {
  const { testbed, fileOf } = await savingGround(t, warmMount, { all: [], before })
  const change = `%s/"title": "[^"]*"/"title": "'"$title"'"/`
  const vim = `vim -es -u NONE -i NONE -c "sleep $wait" -c '${change}' -c wq "$file" </dev/null`
  for (const wait of ['100m', '1', '2', '3'])
    for (const [at, title] of [`First of ${wait}`, `After ${wait}`].entries()) {
      const environment = { file: fileOf('42'), title, wait: at === 0 ? '1m' : wait }
      await printed('bash', ['-c', vim], { environment })
      t.match(await testbed.service.elsewhere('GET', '/report?id=42'), `"${title}"`)
    }
})

t.test('SAVE-22 each order that a shell draws and copies there is stored', async t => {
  const { testbed, fileOf } = await savingGround(t, warmMount, { all: [], before })
  const shuffle = 'shuf "$order" > "$held"; cp "$held" "$order" || echo $at'
  const shuffles = `echo 1300 >> "$order"; for at in {1..12}; do ${shuffle}; done`
  const environment = { order: fileOf('42').replace('.json', '/order.txt'), held: `${testbed.local}/held` }
  t.equal(await printed('bash', ['-c', shuffles], { environment }), '', 'none is refused')
})

t.test('SAVE-19 SAVE-22 a text of before that a shell copies there takes nothing back unseen', async t => {
  const all = [{ id: '901' }]
  const { testbed, fileOf } = await savingGround(t, warmMount, { all, before })
  const { service, local } = testbed
  const bash = (id: string, line: string) => {
    const environment = { file: fileOf(id), order: fileOf(id).replace('.json', '/order.txt') }
    return printed('bash', ['-c', line], { cwd: local, environment })
  }
  type Report = { readonly calculations: readonly object[] }
  const textsOf = async (id: string, change: (record: Report) => Record<string, object>) => {
    const texts = Object.entries(change(JSON.parse(await bash(id, 'tee old < "$file"'))))
    for (const [name, text] of texts) await writeFile(join(local, name), JSON.stringify(text))
  }
  const turned = '(sed -n 2p lines; sed -n 1p lines; echo 1300) > turned && cp turned "$order"'
  await bash('42', `cat "$order" > lines; ${turned}; head -2 lines > two`)
  t.equal(await bash('42', 'cp two "$order" || echo no; cp turned "$order"'), 'no\n', 'a row of our own')

  const { calculations } = JSON.parse(await service.elsewhere('GET', '/report?id=42'))
  const [first, second, ...rest] = calculations
  await bash('42', 'cat "$order" > lines')
  await service.edit('report', '42', { calculations: [{ ...first, title: theirs }, second, ...rest] })
  await bash('42', 'touch "$(dirname "$order")"; sleep 1.5; cat "$order"')
  t.equal(await bash('42', 'cp lines "$order" || echo no'), 'no\n', "another client's title of a row")
  await textsOf('42', record => ({
    longer: { ...record, calculations: [...record.calculations, { calcId: 1236 }] },
    shorter: { ...record, calculations: record.calculations.slice(1) },
  }))
  t.equal(await bash('42', 'cp longer "$file" && cp shorter "$file" || echo no'), 'no\n', 'a row of a list')

  await textsOf('901', record => ({
    next: { ...record, title: theirs, description: theirs },
    bad: { ...record, reportType: 99 },
  }))
  t.equal(await bash('901', 'cp next "$file"; cp bad "$file" || echo no; cp old "$file"'), 'no\n')
  t.match(
    await service.elsewhere('GET', '/report?id=901'),
    `"title":"${before}"`,
    'and what is done is stored',
  )
})
