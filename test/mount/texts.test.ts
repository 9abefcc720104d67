// A text of a record is one file: who has it open keeps it, whatever is saved meanwhile and however; who opens reads the present one.
import fs, { type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { realMount } from '../testbed/mount.js'
import { ids } from '../testbed/sample-data.js'
import { outcome } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { until, within } from '../testbed/within.js'

const { seed, pick } = drawnFrom()
const ofId = `by-id/calculation/${ids.transition}/.calculation.json`
const ofProject = 'projects/Water splitting/TS1_opt/.calculation.json'

t.test(`LEASE-1 LEASE-2 handles, and saves of five kinds in any order, seed ${seed}`, async t => {
  const { directory } = await realMount(t, { settings: { ttlListing: '1h' } })
  const path = join(directory, ofId)
  const held: { readonly file: FileHandle; readonly text: string; readonly what: string }[] = []
  const open = async (step: number): Promise<void> => {
    const text = await fs.readFile(path, 'utf8')
    const file = await fs.open(path, 'r')
    if (pick.fraction() < 0.5) await file.read(Buffer.alloc(10), 0, 10, 0)
    held.push({ file, text, what: `of ${step}` })
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
      const what = 'of a file that was moved'
      if (pick.fraction() < 0.5) held.push({ file: await fs.open(`${path}.tmp`, 'r'), text, what })
      await fs.rename(`${path}.tmp`, path)
    },
    'under its other name': text => fs.writeFile(join(directory, ofProject), text),
    'with a backup': async text => {
      await fs.rename(path, `${path}~`)
      await fs.writeFile(path, text)
      await fs.unlink(`${path}~`)
    },
  }
  for (let step = 0; step < 60; step += 1) {
    await within(20_000, `open ${step}`, open(step))
    const kind = pick.of(Object.keys(saves))
    const record = JSON.parse(await fs.readFile(path, 'utf8')) as Record<string, unknown>
    const description = `${step} ${'x'.repeat(pick.of([0, 3, 40, 5_000, 9_000]))}`
    const text = JSON.stringify({ ...record, description }, undefined, pick.of([0, 1, 4]))
    await within(20_000, `${step}: ${kind}`, saves[kind]?.(text) ?? Promise.resolve())
    const fresh = await fs.readFile(path, 'utf8')
    t.equal((JSON.parse(fresh) as typeof record)['description'], description, `${step}: ${kind}`)
    await until(20_000, 'its size', async () => (await fs.stat(path)).size === Buffer.byteLength(fresh))
    for (const { file, text: own, what } of held) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(20_000), 0, 20_000, 0)
      t.equal(buffer.toString('utf8', 0, bytesRead), own, `${step}: ${kind}: ${what}`)
      t.equal((await file.stat()).size, bytesRead, `the size, ${step}: ${kind}: ${what}`)
    }
    while (held.length > 5) await held.splice(pick.whole(0, held.length - 1), 1)[0]?.file.close()
  }
  for (const { file } of held) await file.close()
})

t.test('DRAFT-1 a text that is not UTF-8 is EINVAL, and stays byte for byte', async t => {
  const { directory, service } = await realMount(t)
  const path = join(directory, ofId)
  const text = (await fs.readFile(path, 'utf8')).replace('"description": "', '$&caf\xe9 ')
  const bytes = Buffer.from(text, 'latin1')
  await service.sends(t, [], async () => t.equal(await outcome(fs.writeFile(path, bytes)), 'EINVAL'))
  t.ok((await fs.readFile(path)).equals(bytes))
})

t.test('TIME-2 a saved text has the time that its editor saw, also in the words of the service', async t => {
  const path = join((await realMount(t)).directory, ofId)
  for (const temporary of ['', '.tmp']) {
    const record = JSON.parse(await fs.readFile(path, 'utf8')) as Record<string, unknown>
    const file = await fs.open(path + temporary, 'w')
    await file.write(JSON.stringify({ ...record, description: `Seen${temporary}` }))
    const written = (await file.stat()).mtimeMs
    await wait(20)
    await file.close()
    if (temporary !== '') await fs.rename(path + temporary, path)
    const { mtimeMs } = await fs.stat(path)
    if (temporary === '') t.equal(mtimeMs, written)
    await wait(2_500)
    await fs.readFile(path)
    t.equal((await fs.stat(path)).mtimeMs, mtimeMs)
  }
})
