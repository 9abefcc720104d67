// A text of a record is one file: who has it open keeps it, whatever is saved meanwhile and however; who opens reads the present one.
import type { FileHandle } from 'node:fs/promises'
import fs from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chance } from '../long/chance.js'
import { realMount } from '../testbed/mount.js'
import { ids } from '../testbed/sample-data.js'
import { until, within } from '../testbed/within.js'

const seed = Number(process.env['CALCFS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const steps = 60
const ofId = `by-id/calculation/${ids.transition}/.calculation.json`
const ofProject = 'projects/Water splitting/TS1_opt/.calculation.json'
t.setTimeout(200_000)

interface Held {
  readonly file: FileHandle
  readonly text: string
  readonly isRead: boolean
  readonly step: number
}

t.test(`LEASE-1 LEASE-2 handles, and saves of six kinds in any order, seed ${seed}`, async t => {
  const pick = chance(seed)
  const { directory } = await realMount(t, { settings: { ttlRecord: '1h', ttlListing: '1h' } })
  const path = join(directory, ofId)
  const held: Held[] = []
  const open = async (step: number): Promise<void> => {
    const text = await fs.readFile(path, 'utf8')
    const file = await fs.open(path, 'r')
    const isRead = pick.fraction() < 0.5
    if (isRead) await file.read(Buffer.alloc(10), 0, 10, 0)
    held.push({ file, text, isRead, step })
  }
  const saves: Record<string, (text: string) => Promise<unknown>> = {
    'in place': text => fs.writeFile(path, text),
    'by read and write': async text => {
      const file = await fs.open(path, 'r+')
      await file.truncate(0)
      await file.write(text, 0)
      await file.close()
    },
    'by a rename': async text => {
      await fs.writeFile(`${path}.tmp`, text)
      await fs.rename(`${path}.tmp`, path)
    },
    'by a rename of a file that is open': async text => {
      await fs.writeFile(`${path}.tmp`, text)
      const file = await fs.open(`${path}.tmp`, 'r')
      held.push({ file, text, isRead: false, step: -1 })
      await fs.rename(`${path}.tmp`, path)
    },
    'under its other name': text => fs.writeFile(join(directory, ofProject), text),
    'with a backup': async text => {
      await fs.rename(path, `${path}~`)
      await fs.writeFile(path, text)
      await fs.unlink(`${path}~`)
    },
  }
  for (let step = 0; step < steps; step += 1) {
    await within(20_000, `open ${step}`, open(step))
    const kind = pick.of(Object.keys(saves))
    const record = JSON.parse(await fs.readFile(path, 'utf8')) as Record<string, unknown>
    const description = `${step} ${'x'.repeat(pick.of([0, 3, 40, 5_000, 9_000]))}`
    const text = JSON.stringify({ ...record, description }, undefined, pick.of([0, 1, 4]))
    await within(20_000, `${step}: ${kind}`, saves[kind]?.(text) ?? Promise.resolve())
    const fresh = await fs.readFile(path, 'utf8')
    t.equal((JSON.parse(fresh) as typeof record)['description'], description, `${step}: ${kind}`)
    await until(20_000, 'a size that is that of the text', async () => {
      const { size } = await fs.stat(path)
      return size === Buffer.byteLength(await fs.readFile(path, 'utf8'))
    })
    for (const { file, text: own, isRead, step: since } of held) {
      const bytes = Buffer.alloc(20_000)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      const what = `${step}: ${kind}: of ${since}, ${isRead ? 'read' : 'not read'} before`
      t.equal(bytes.toString('utf8', 0, bytesRead), own, what)
      t.equal((await file.stat()).size, bytesRead, `the size, ${what}`)
    }
    while (held.length > 5) await held.splice(pick.whole(0, held.length - 1), 1)[0]?.file.close()
  }
  for (const { file } of held) await file.close()
})

t.test(`SAVE-1 beside saves by rename no reader meets an empty or a torn text, seed ${seed}`, async t => {
  const pick = chance(seed)
  const { directory } = await realMount(t, { settings: { ttlRecord: '1h', ttlListing: '1h' } })
  const path = join(directory, ofId)
  let isOver = false
  const wrong: string[] = []
  let reads = 0
  const reader = async (): Promise<void> => {
    while (!isOver) {
      const file = await fs.open(path, 'r')
      const text = await file.readFile('utf8')
      const { size } = await file.stat()
      await file.close()
      reads += 1
      if (!/^\{[^\0]*\}\s*$/.test(text) || Buffer.byteLength(text) !== size) wrong.push(`${size}: ${text}`)
    }
  }
  const readers = [reader(), reader(), reader()]
  const record = JSON.parse(await fs.readFile(path, 'utf8')) as Record<string, unknown>
  for (let save = 0; save < 40; save += 1) {
    const description = `${save} ${'x'.repeat(pick.of([0, 400, 5_000]))}`
    await fs.writeFile(`${path}.tmp`, JSON.stringify({ ...record, description }))
    await within(20_000, 'a save', fs.rename(`${path}.tmp`, path))
  }
  isOver = true
  await within(20_000, 'the readers', Promise.all(readers))
  t.ok(reads > 40, `${reads} reads`)
  t.same(wrong, [])
})
