// Promises of `calcfs history` and `calcfs restore`: every text that a record had is found again, and can be saved again.
import t, { type Test } from 'tap'
import type { HistoryLine } from '../../../src/drive/interface/control.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const path = 'reports/42.json'

async function versionsOf({ here }: WarmTestbed, of = path): Promise<readonly HistoryLine[]> {
  const { stdout } = await here('history', of, '--json')
  return JSON.parse(stdout).versions
}

const restore = ({ here }: WarmTestbed, what: string) => here('restore', what)
const show = async ({ here }: WarmTestbed, what: string) => (await here('history', 'show', what)).stdout

/** What a report says without what the service sets by itself. */
function saying(text: string): string {
  const { modificationDate: _, ...rest } = JSON.parse(text)
  return JSON.stringify(rest)
}

async function retitled(testbed: WarmTestbed, title: string): Promise<void> {
  const { title: before } = JSON.parse(await textOf(testbed, path))
  const text = await textOf(testbed, path)
  await overwrite(testbed, path, text.replace(JSON.stringify(before), JSON.stringify(title)))
}

t.test('each text is listed once, with when, how, by which mount and what changed (UNDO-1)', async t => {
  const testbed = await warmMount(t)
  await retitled(testbed, 'Second')
  await retitled(testbed, 'Third')
  const all = await versionsOf(testbed)
  t.equal(all.length, 3)
  t.match(all[0], {
    how: 'saved',
    mount: testbed.directory,
    isNow: true,
    at: /^20.*Z$/,
    changed: 'title: "Second" → "Third"',
  })
  t.match(all[1], { how: 'saved', isNow: false, changed: 'title: "Supporting information" → "Second"' })
  t.match(all[2], { how: 'read', changed: 'the oldest that is kept' })
  const project = await testbed.calcfs(
    'history',
    '/db/demo/Water splitting/.project.json',
    '--mount',
    testbed.directory,
  )
  t.match(project, { code: 0, stderr: '' }, 'a link on the way')
  const text = await testbed.calcfs('history', `${testbed.directory}/${path}`)
  t.match(
    text.stdout,
    new RegExp(`^@${all[0]?.number} {2}20\\S+ [:\\d]+ {2}saved by ${testbed.directory} \\(now\\): title`),
  )
  t.match(await testbed.calcfs('history', `${testbed.directory}/reports/99.json`), {
    code: 1,
    stderr: /there is nothing of this name/,
  })
  t.match(await testbed.calcfs('history', `${testbed.directory}/projects/Water splitting/TS1_opt/run.log`), {
    code: 2,
    stderr: /has no history: only records/,
  })
  await testbed.end()
  const { service } = testbed
  const unmounted = await testbed.calcfs('history', path, '--json', '--url', service.url, '--user', 'demo')
  const timeless = (versions: readonly HistoryLine[]) =>
    versions.map(one => ({ ...one, at: one.at.slice(0, 18) }))
  t.same(timeless(JSON.parse(unmounted.stdout).versions), timeless(all), 'the same without a mount')
})

t.test('a text that could not be saved is in the history, however it is written over (UNDO-1)', async t => {
  const testbed = await warmMount(t)
  const right = await textOf(testbed, path)
  const ways = { 'in place': 'r+', emptied: 'w' } as const
  for (const at of [path, 'reports/new-broken.json']) {
    const words: string[] = []
    const spoil = async (word: string, how: 'w' | 'r+'): Promise<void> => {
      words.push(word)
      const text = `${right.replace('Supporting information', word)} no JSON`
      t.not(await outcome(overwrite(testbed, at, text, how)), 'done', word)
    }
    await spoil('first', ways.emptied)
    for (const [way, how] of Object.entries(ways))
      for (const [before, by] of Object.entries(ways))
        await spoil(`${before} then ${way}`, before === way ? how : by)
    const found = (await versionsOf(testbed, at)).map(({ number }) => show(testbed, `${at}@${number}`))
    const texts = (await Promise.all(found)).join()
    // The last one is the draft itself.
    for (const word of words.slice(0, -1)) t.match(texts, word, `${at}: ${word}`)
    if (at !== path) continue
    await overwrite(testbed, at, right.replace('Supporting information', 'Right at last'), 'r+')
    const saved = (await versionsOf(testbed, at)).map(({ number }) => show(testbed, `${at}@${number}`))
    t.match((await Promise.all(saved)).join(), String(words.at(-1)))
  }
})

t.test(
  'a number stays that of its text, whatever is saved, restored or mounted after that (UNDO-1)',
  async t => {
    const testbed = await warmMount(t)
    const seen = new Map<number, string>()
    const { seed, draw: drawn } = drawnFrom()
    t.comment(`CALCFS_TEST_SEED=${seed}`)
    for (let step = 0; step < 5; step += 1) {
      const known = [...seen.keys()]
      const again = known[drawn(known.length)]
      if (step % 4 === 3 && again !== undefined) {
        const done = await restore(testbed, `${path}@${again}`)
        t.equal(done.code, 0, done.stderr)
        t.equal(saying(await textOf(testbed, path)), seen.get(again), `@${again} is there again`)
      } else await retitled(testbed, `Title ${drawn(5)}`)
      if (step === 2) await testbed.remount()
      const all = await versionsOf(testbed)
      t.equal(all.filter(({ isNow }) => isNow).length, 1, 'one is as it is now')
      const latestFirst = (one: HistoryLine, other: HistoryLine) => Date.parse(other.at) - Date.parse(one.at)
      t.same(all.toSorted(latestFirst), all, 'numbered and ordered by time')
      for (const { number } of all) {
        const said = saying(await show(testbed, `${path}@${number}`))
        t.equal(seen.get(number) ?? said, said, `@${number} after step ${step}`)
        seen.set(number, said)
      }
      t.ok([...seen.values()].includes(saying(await textOf(testbed, path))), 'what is there now is listed')
    }
    t.equal(new Set(seen.values()).size, seen.size, 'no two say the same')
  },
)

t.test('show prints a text letter for letter, diff what differs from it (UNDO-2)', async t => {
  const testbed = await warmMount(t)
  const own = `${(await textOf(testbed, path)).replace('Supporting information', 'Mine').trimEnd()}\n`
  await overwrite(testbed, path, own)
  const [now, before] = await versionsOf(testbed)
  t.equal(await show(testbed, `${path}@${now?.number}`), own)
  const { calcfs, here } = testbed
  const toNow = await here('history', 'diff', `${path}@${before?.number}`)
  t.match(toNow.stdout, /^-.*"Supporting information",?\n\+.*"Mine"/m)
  t.notMatch(toNow.stdout, /modificationDate/, 'what the service sets by itself is no difference')
  const both = [`${path}@${before?.number}`, `${path}@${now?.number}`]
  const { stdout } = await here('history', 'diff', ...both, '--json')
  t.match(JSON.parse(stdout), { from: before?.number, to: now?.number, later: /"Mine"/ })
  t.match(await calcfs('history', 'show', path), { code: 2, stderr: /write PATH@N/ })
  t.match(await here('history', 'show', `${path}@77`), { code: 1, stderr: /has no text @77/ })
  t.match(await here('history', `${path}@1`), { code: 2, stderr: `calcfs history show ${path}@1 prints it` })
  const shown = await here('history', 'show', `${path}@${now?.number}`, '--json')
  t.match(JSON.parse(shown.stdout), { path: `/${path}`, number: now?.number, stored: true, text: own })
})

t.test(
  'a text that was never stored is marked so, and no change is told against it (UNDO-1, UNDO-2)',
  async t => {
    const testbed = await warmMount(t)
    const { here, service } = testbed
    await retitled(testbed, 'Second')
    const refuse = service.refuse(/^PUT \/report/, 422, 'no')
    const text = await textOf(testbed, path)
    t.equal(await outcome(overwrite(testbed, path, text.replace('"Second"', '"Given up"'))), 'EINVAL')
    refuse()
    t.match(await here('drafts', 'drop', '42.json'), { code: 0 })
    await testbed.pass(2_500)
    await retitled(testbed, 'Third')
    const all = await versionsOf(testbed)
    const told = all.map(({ how, stored, changed }) => [how, stored, changed])
    t.same(told[0], ['saved', true, 'title: "Second" → "Third"'])
    const givenUp = all.find(({ how }) => how === 'not saved, and given up')
    t.match(givenUp, { stored: false, changed: 'title: "Second" → "Given up"' })
    for (const { how, stored, changed } of all)
      if (stored) t.notMatch(changed, 'Given up', `${how}: no base of a stored text`)
    const { stdout } = await here('history', path)
    t.match(
      stdout,
      /not saved, and given up by \S+, never stored; it would have changed: title: "Second" → "Given up"/,
    )
    const diff = await here('history', 'diff', `${path}@${givenUp?.number}`)
    t.match(diff.stdout, `--- ${path}@${givenUp?.number}, never stored\n+++ ${path}, as it shows now\n`)
  },
)

/** A report whose title was changed here, then its description elsewhere. */
async function changedByTwo(t: Test) {
  const testbed = await warmMount(t)
  await retitled(testbed, 'Mine')
  const [, oldest] = await versionsOf(testbed)
  const { service } = testbed
  const record = await service.elsewhere('GET', '/report?id=42')
  await service.elsewhere(
    'PUT',
    '/report',
    record.replace(/"description":("[^"]*"|null)/, '"description":"of another client"'),
  )
  await testbed.pass(31_000)
  return { testbed, oldest: oldest?.number }
}

t.test('restore is one PUT over what the service has now, and that is in the history (UNDO-3)', async t => {
  const { testbed, oldest } = await changedByTwo(t)
  const { service } = testbed
  await service.sends(t, ['PUT /report'], async () => {
    const done = await restore(testbed, `${path}@${oldest}`)
    t.match(done, {
      code: 0,
      stdout: /is as it was in @\d+: title: "Mine" → "Supporting information", description/,
    })
  })
  t.match(JSON.parse(await textOf(testbed, path)), { title: 'Supporting information' })
  const stored = JSON.parse(await service.elsewhere('GET', '/report?id=42'))
  t.match(stored, { title: 'Supporting information' })
  t.not(stored.description, 'of another client')
  const versions = await versionsOf(testbed)
  t.same(
    versions.filter(({ isNow }) => isNow).map(({ number }) => number),
    [oldest],
    'one text is the one of now',
  )
  const numbers = versions.map(({ number }) => number)
  t.same(
    numbers,
    numbers.toSorted((one, other) => other - one),
    'in the order in which they were met',
  )
  const texts = await Promise.all(versions.map(({ number }) => show(testbed, `${path}@${number}`)))
  t.ok(
    texts.some(text => text.includes('of another client')),
    'what another client had written is kept',
  )
  await service.sends(t, [], async () => {
    t.match(await restore(testbed, `${path}@${oldest}`), { code: 0, stdout: /nothing was sent/ })
  })
})

t.test('the order of a report has a history, and is restored as lines (UNDO-3)', async t => {
  const testbed = await warmMount(t)
  const order = 'reports/42/order.txt'
  const lines = await textOf(testbed, order)
  await overwrite(testbed, order, `${lines.split('\n').slice(0, 3).toReversed().join('\n')}\n`)
  await outcome(overwrite(testbed, path, (await textOf(testbed, path)).replace('"id": 42', '"id": 7')))
  await testbed.here('drafts', 'drop', '42')
  const versions = await versionsOf(testbed, order)
  t.match(JSON.stringify(versions), /"how":"saved[^}]*"isNow":true.*the oldest that is kept","isNow":false/)
  await testbed.service.sends(t, ['PUT /report/calculations'], async () => {
    t.match(await restore(testbed, `${order}@${versions[1]?.number}`), { code: 0 })
  })
  t.equal(await textOf(testbed, order), lines)
  const bare = lines.replace(/\t[^\t]*(\t[^\t]*)$/, '\t$1')
  const named = bare.replace(/\t(\t[^\t]*)$/, '\tNamed$1')
  for (const text of [bare, named, lines.replace(/.*\n$/, '')]) await overwrite(testbed, order, text)
  const [, , before] = await versionsOf(testbed, order)
  t.equal(await show(testbed, `${order}@${before?.number}`), bare)
  t.match(await restore(testbed, `${order}@${before?.number}`), { code: 0 })
  t.equal(await textOf(testbed, order), bare, 'a title that it had later does not come back with its row')
})

t.test('nothing is restored over an unsaved text, a changed record, or what is gone (UNDO-3)', async t => {
  const { testbed, oldest } = await changedByTwo(t)
  const { service } = testbed
  const what = `${path}@${oldest}`
  const well = service.refuse(/^PUT \/report/, 403, 'not now')
  t.match(await restore(testbed, what), { code: 1, stderr: /not now/ })
  const mine = (await textOf(testbed, path)).replace('Mine', 'My next one')
  t.not(await outcome(overwrite(testbed, path, mine)), 'done')
  well()
  await service.sends(t, [], async () => {
    t.match(await restore(testbed, what), { code: 7, stderr: /not saved: send it or drop it first/ })
  })
  t.equal(await textOf(testbed, path), mine, 'the unsaved text is there still')
  t.match(await testbed.here('drafts', 'drop', '42'), { code: 0 })
  const given = (await versionsOf(testbed)).find(({ how }) => how === 'not saved, and given up')
  t.match(
    await restore(testbed, `${path}@${given?.number}`),
    { code: 0 },
    'what was given up can be had again',
  )
  t.match(JSON.parse(await textOf(testbed, path)), { title: 'My next one' })
  const now = (await versionsOf(testbed)).find(({ isNow }) => isNow)
  t.match(now, { number: given?.number, how: 'saved', stored: true })
  await service.elsewhere('DELETE', '/report?id=42')
  t.match(await restore(testbed, what), { code: 1, stderr: /is gone on the service.*calcfs history show/ })
  t.match(JSON.parse(await show(testbed, what)), { title: 'Supporting information' }, 'it is shown still')
})
