// A draft damaged by the disk is neither shown as the user's text nor sent; it is kept, and all commands report it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { draftsLeft } from '../left-behind.js'

/** What a disk does to a text, each to a text that is still JSON or might be. */
const harms: Readonly<Record<string, (text: Buffer) => Buffer>> = {
  zeros: text => Buffer.alloc(text.length),
  'one bit': text => {
    const at = text.indexOf('Mine')
    const changed = Buffer.from(text)
    changed[at] = (changed[at] ?? 0) ^ 1
    return changed
  },
  'cut short': text => text.subarray(0, -1),
  emptied: () => Buffer.alloc(0),
  longer: text => Buffer.concat([text, Buffer.from('\n')]),
}

const numberOf = (at: number): string => String(900 + at)

t.test('DRAFT-9 a draft that the disk has damaged is set apart and reported', async t => {
  const testbed = await warmMount(t, {
    adds(seed) {
      for (const at of [...Object.keys(harms), 'whole'].keys())
        seed.addReport({ id: numberOf(at), name: 'R', title: 'Title', owner: 'demo', calculations: [] })
    },
  })
  const { calcfs, here, directory } = testbed
  const mend = testbed.service.refuse(/^PUT \/report/, 500, '{}')
  const due = new Map<string, string>()
  for (const at of [...Object.keys(harms), 'whole'].keys()) {
    const path = `reports/${numberOf(at)}.json`
    const text = (await textOf(testbed, path)).replace('"Title"', `"Mine ${at}"`)
    t.equal(await outcome(overwrite(testbed, path, text)), 'EIO')
    due.set(path, text)
  }
  mend()
  await testbed.end()
  const places = new Map<string, string>()
  for (const { directory: place, text } of await draftsLeft(join(testbed.home, 'state', 'calcfs'))) {
    const at = [...due.values()].indexOf(text)
    const harm = Object.values(harms)[at]
    if (harm === undefined) continue
    await writeFile(join(place, 'text'), harm(Buffer.from(text)))
    places.set(`reports/${numberOf(at)}.json`, text)
  }
  t.equal(places.size, Object.keys(harms).length)
  await testbed.mount()

  const last = numberOf(Object.keys(harms).length)
  t.equal(
    await textOf(testbed, `reports/${last}.json`),
    due.get(`reports/${last}.json`),
    'a whole one is shown',
  )
  const list = await here('drafts', 'list')
  const status = await calcfs('status', directory)
  t.match([list.code, status.code], [7, 7])
  for (const [at, name] of Object.keys(harms).entries()) {
    const id = numberOf(at)
    const path = `reports/${id}.json`
    t.match(await textOf(testbed, path), '"Title"', `${name}: the record is as the service has it`)
    const why = (await calcfs('why', join(directory, path))).stdout
    for (const said of [why, list.stdout, status.stdout])
      t.match(said, /the disk has lost bytes of this text .*\/drafts\/[-0-9a-f]+\/text/, `${name}: reported`)
    t.match(why, `calcfs drafts drop ${id}.json.damaged`)
    await testbed.service.sends(t, [], `${name}: not sent`, async () => {
      const { code, stderr } = await here('drafts', 'send', `${id}.json.damaged`)
      t.equal(code, 1)
      t.match(stderr, /the disk has lost bytes/)
    })
    const left = await readFile(join(directory, `.calcfs/drafts/${id}.json.damaged`))
    t.same(left, harms[name]?.(Buffer.from(due.get(path) ?? '')), `${name}: what is left can be read`)
  }
  // The text is written once more, and what was left of the first is given up.
  for (const [path, text] of due) t.equal(await outcome(overwrite(testbed, path, text)), 'done')
  for (const at of Object.keys(harms).keys()) t.match(await here('drafts', 'drop', numberOf(at)), { code: 0 })
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  t.match(await calcfs('status', directory), { code: 0 })
  for (const [at, path] of [...due.keys()].entries()) t.match(await textOf(testbed, path), `"Mine ${at}"`)
})
