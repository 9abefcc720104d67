// What a program is shown of a record that this mount has changed through another path: its save undoes nothing that it was not shown.
import { dirname } from 'node:path'
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

/** A record that is read at one path, and changed through another door. */
interface Door {
  readonly name: string
  /** Where the record is read before, and where it is saved after the change; made first where it is a new one. */
  ready(testbed: Testbed): Promise<{ readonly before: string; readonly after: string }>
  change(testbed: Testbed): Promise<unknown>
  /** Whether the service has that change. */
  isThere(testbed: Testbed): Promise<boolean>
  /** An edit of another field, and whether the service has it. */
  readonly edit: (text: string) => string
  isEdited(testbed: Testbed): Promise<boolean>
}

const water = 'projects/Water splitting'
const report = `reports/${ids.report}.json`
const order = `reports/${ids.report}/order.txt`
const made = 'reports/new-made.json'
const shares = `${water}/.shares`
const share = `${shares}/new.json`

const described = (text: string): string => text.replace(/"description": "[^"]*"/, '"description": "Edited"')
const turned = (text: string): string => `${text.trimEnd().split('\n').toReversed().join('\n')}\n`

async function stored({ service }: Testbed, path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await service.elsewhere('GET', path))
}

/** As `sed -i` and editors do: the text beside it, and then moved over it. */
async function replaceBy(testbed: Testbed, path: string, text: string): Promise<void> {
  const beside = `${dirname(path)}/sed4rTq1Z`
  await overwrite(testbed, beside, text)
  await testbed.files.rename(beside, path)
}

/** Changes a file as `sed -i` does. */
const rewrite = async (testbed: Testbed, path: string, edit: (text: string) => string): Promise<void> =>
  replaceBy(testbed, path, edit(await textOf(testbed, path)))

const numberOf = async (testbed: Testbed, path: string): Promise<string> => {
  const { id, shareId } = JSON.parse(await textOf(testbed, path))
  return String(id ?? shareId)
}

function renamed(kind: 'project' | 'calculation', id: string, from: string): Door {
  const file = `.${kind}.json`
  const to = `Renamed ${kind}`
  return {
    name: `a ${kind} and its rename`,
    ready: async () => ({ before: `${water}/${from}/${file}`, after: `${water}/${to}/${file}` }),
    change: ({ files }) => files.rename(`${water}/${from}`, `${water}/${to}`),
    isThere: async testbed => (await stored(testbed, `/${kind}?id=${id}`))['name'] === to,
    edit: described,
    isEdited: async testbed => (await stored(testbed, `/${kind}?id=${id}`))['description'] === 'Edited',
  }
}

const listIn = async (testbed: Testbed): Promise<string> => {
  const rows = (await stored(testbed, `/report?id=${ids.report}`))['calculations'] as { calcId: number }[]
  return rows.map(({ calcId }) => calcId).join()
}
const backwards = [ids.bare, ids.product, ids.transition].join()

/** The names of a report or a share that a file has made: one is read, the other one is edited. */
function names(kind: 'report' | 'share', read: 'name' | 'number'): Door {
  const name = kind === 'report' ? made : share
  let other = ''
  let id = ''
  const record = async (testbed: Testbed): Promise<Record<string, unknown>> => {
    if (kind === 'report') return stored(testbed, `/report?id=${id}`)
    const all = JSON.parse(await testbed.service.elsewhere('GET', `/project/share?id=${ids.water}`))
    return all.find((one: { shareId: number }) => String(one.shareId) === id)
  }
  const changed = (text: string): string =>
    kind === 'report'
      ? text.replace(/"title": "[^"]*"/, '"title": "Changed"')
      : text.replace('READ', 'FULLACCESS')
  return {
    name: `a ${kind} that is read by its ${read} and edited by the other one`,
    async ready(testbed) {
      await overwrite(
        testbed,
        name,
        kind === 'report'
          ? '{"title": "Made", "description": "Plain", "reportType": "1", "calculations": []}'
          : '{"user": "guest", "permission": "READ"}',
      )
      id = await numberOf(testbed, name)
      const number = `${dirname(name)}/${id}.json`
      other = read === 'name' ? number : name
      const path = read === 'name' ? name : number
      return { before: path, after: path }
    },
    change: testbed => rewrite(testbed, other, changed),
    async isThere(testbed) {
      const { title, permission } = await record(testbed)
      return title === 'Changed' || permission === 'FULLACCESS'
    },
    edit: kind === 'report' ? described : text => text,
    isEdited: async testbed => kind === 'share' || (await record(testbed))['description'] === 'Edited',
  }
}

/** Those that share a drive: no two of them have a name or a record in common. */
const doors: readonly (readonly Door[])[] = [
  [
    renamed('project', ids.empty, 'Sub project'),
    renamed('calculation', ids.bare, 'No geometry'),
    {
      name: 'a report and its order.txt',
      ready: async () => ({ before: report, after: report }),
      change: testbed => rewrite(testbed, order, turned),
      isThere: async testbed => (await listIn(testbed)) === backwards,
      edit: text => text.replace('Supporting information', 'Edited'),
      isEdited: async testbed => (await stored(testbed, `/report?id=${ids.report}`))['title'] === 'Edited',
    },
    names('report', 'name'),
    names('share', 'name'),
  ],
  [names('report', 'number'), names('share', 'number')],
]

export function shownTexts(t: Test, open: OpenTestbed): void {
  t.test('what is shown of a record after a change through another path', async t => {
    const started = (t: Test) => open(t, { settings: { access: 'manage' } })
    const atEach = async (t: Test, tried: (door: Door, testbed: Testbed) => Promise<void>) => {
      for (const some of doors) {
        const testbed = await started(t)
        for (const door of some) await tried(door, testbed)
      }
    }

    t.test('LEASE-1 the next open shows the change, and a rewrite of that keeps it', async t => {
      await atEach(t, async (door, testbed) => {
        const { before, after } = await door.ready(testbed)
        const first = await textOf(testbed, before)
        await door.change(testbed)
        const asked = await testbed.service.during(() => rewrite(testbed, after, text => text))
        t.same(writes(asked), [], `${door.name}: nothing is sent`)
        t.ok(await door.isThere(testbed), door.name)
        t.not(await textOf(testbed, after), first, `${door.name}: the new text is shown`)
      })
    })

    t.test('LEASE-1 so does an edit of another field, within the same second', async t => {
      await atEach(t, async (door, testbed) => {
        const { before, after } = await door.ready(testbed)
        await textOf(testbed, before)
        await door.change(testbed)
        t.equal(await outcome(rewrite(testbed, after, door.edit)), 'done', door.name)
        t.ok(await door.isThere(testbed), `${door.name}: the change is there`)
        t.ok(await door.isEdited(testbed), `${door.name}: the edit is there`)
      })
    })

    t.test('SAVE-18 where it is open, the text of before that is shown undoes nothing', async t => {
      await atEach(t, async (door, testbed) => {
        const { before, after } = await door.ready(testbed)
        const first = await textOf(testbed, before)
        const reader = await testbed.files.open(before, 'r')
        await door.change(testbed)
        t.equal((await reader.read(first.length, 0)).toString(), first, `${door.name}: LEASE-2`)
        const asked = await testbed.service.during(async () =>
          t.equal(await outcome(rewrite(testbed, after, text => text)), 'done', door.name),
        )
        t.same(writes(asked), [], `${door.name}: nothing is sent`)
        t.ok(await door.isThere(testbed), `${door.name}: the change is there`)
        await reader.close()
      })
    })

    t.test('SAVE-18 an edit of it is that edit alone', async t => {
      await atEach(t, async (door, testbed) => {
        const { before, after } = await door.ready(testbed)
        await textOf(testbed, before)
        const reader = await testbed.files.open(before, 'r')
        await door.change(testbed)
        t.equal(await outcome(rewrite(testbed, after, door.edit)), 'done', door.name)
        t.ok(await door.isThere(testbed), `${door.name}: the change is there`)
        t.ok(await door.isEdited(testbed), `${door.name}: the edit is there`)
        await reader.close()
      })
    })

    t.test('SAVE-18 so is what is added to it', async t => {
      await atEach(t, async (door, testbed) => {
        const { before, after } = await door.ready(testbed)
        const reader = await testbed.files.open(before, 'r')
        await reader.read(4096, 0)
        await door.change(testbed)
        const asked = await testbed.service.during(async () => {
          const file = await testbed.files.open(after, 'a')
          await file.write('\n', 0)
          t.equal(await outcome(file.close()), 'done', door.name)
        })
        t.same(writes(asked), [], `${door.name}: nothing is sent`)
        t.ok(await door.isThere(testbed), `${door.name}: the change is there`)
        await reader.close()
      })
    })

    t.test('SAVE-18 so it is with what its last writer had written', async t => {
      const testbed = await started(t)
      const reader = await testbed.files.open(report, 'r')
      const compact = (await textOf(testbed, report)).replace('Supporting information', 'Own')
      await overwrite(testbed, report, compact.replaceAll(/\n */g, ' '))
      await rewrite(testbed, order, turned)
      const asked = await testbed.service.during(() => rewrite(testbed, report, text => text))
      t.same(writes(asked), [], 'nothing is sent')
      t.equal(await listIn(testbed), backwards)
      await reader.close()
    })

    t.test('SAVE-16 a text of before that is written unread takes the change back', async t => {
      for (const isOpen of [false, true])
        await atEach(t, async (door, testbed) => {
          const { before, after } = await door.ready(testbed)
          const copied = await textOf(testbed, before)
          const reader = isOpen ? await testbed.files.open(before, 'r') : undefined
          await door.change(testbed)
          t.ok(await door.isThere(testbed), `${door.name}: the change is there`)
          await overwrite(testbed, after, copied)
          t.notOk(await door.isThere(testbed), `${door.name}: it is taken back`)
          await reader?.close()
        })
    })

    t.test('LEASE-1 an order that is shown after another list was saved', async t => {
      const testbed = await started(t)
      const lines = await textOf(testbed, order)
      await rewrite(testbed, report, text => text.replace(/\{[^{}]*"Transition state"[^{}]*\},\s*/, ''))
      const shorter = await listIn(testbed)
      t.equal(shorter, [ids.product, ids.bare].join())
      const asked = await testbed.service.during(() => rewrite(testbed, order, text => text))
      t.same(writes(asked), [])
      t.not(await textOf(testbed, order), lines)
      t.equal(await listIn(testbed), shorter)
    })
  })
}
