// Two mounts that save one record: what both have changed is merged or refused with a draft, nothing is lost, and all show one text.
import { randomInt } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { chance } from '../long/chance.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { seenMs, until, within } from '../testbed/within.js'

t.setTimeout(240_000)

const path = `reports/${ids.report}.json`
const stored = ({ service }: FleetBed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)
const withField = (text: string, field: string, word: string): string =>
  text.replace(new RegExp(`"${field}": "[^"]*"`), `"${field}": "${word}"`)
const draftsOf = async (node: FleetNode): Promise<string[]> => namesOf(node, '.calcfs/drafts')

async function dropDrafts(node: FleetNode): Promise<void> {
  for (const name of await draftsOf(node)) await outcome(node.files.unlink(`.calcfs/drafts/${name}`))
}

/** Everything that a mount keeps of texts: drafts and history. */
async function kept({ state }: FleetNode): Promise<string> {
  const names = await readdir(state, { recursive: true, withFileTypes: true })
  const texts = names.filter(name => name.isFile() && /\/(texts|drafts)\//.test(`${name.parentPath}/`))
  const all = texts.map(name => readFile(join(name.parentPath, name.name), 'utf8').catch(() => ''))
  return (await Promise.all(all)).join('\n')
}

t.test('FLEET-2 saves at the same moment: no text is lost, and all mounts show what is stored', async t => {
  const seed = randomInt(2 ** 31)
  t.comment(`seed ${seed}`)
  const pick = chance(seed)
  const bed = await fleetBed(t)
  const nodes = await Promise.all([1, 2, 3].map(() => bed.join()))
  const seen = new Map<string, number>()
  let overwritten = 0
  // Answers overtake each other: who has stored first may be answered last.
  bed.service.intercept(/^(GET|PUT) \/report/, async (_, { carryOut }) => {
    const passOn = await carryOut()
    await wait(pick.once(2) ? 0 : pick.whole(1, 60))
    passOn()
  })
  for (let round = 0; round < 12; round += 1) {
    const writers = pick.shuffled(nodes).slice(0, pick.whole(2, 3))
    const texts = await Promise.all(nodes.map(node => textOf(node, path)))
    t.equal(new Set(texts).size, 1, `round ${round}: all show the same before`)
    const saves = writers.map(node => {
      const field = pick.of(['title', 'description'])
      return {
        node,
        field,
        word: `w${round}x${pick.word(6, 10)}`,
        later: pick.once(2) ? 0 : pick.whole(1, 25),
      }
    })
    const ends = await within(
      20_000,
      'the saves',
      Promise.all(
        saves.map(async ({ node, field, word, later }) => {
          await wait(later)
          return outcome(overwrite(node, path, withField(texts[0] ?? '', field, word)))
        }),
      ),
    )
    const about = `seed ${seed}, round ${round}: ${saves.map(({ field, later }, at) => `${field} after ${later} ms ${ends[at]}`).join(', ')}`
    const now = await stored(bed)
    overwritten += saves.filter(({ word }, at) => ends[at] === 'done' && !now.includes(word)).length
    seen.set([...ends].sort().join(), (seen.get([...ends].sort().join()) ?? 0) + 1)
    for (const [at, { node, word }] of saves.entries()) {
      // Another client's text may come between a PUT and reading again: EIO says so.
      t.match(ends[at], /^(done|ESTALE|EIO)$/, about)
      if (now.includes(word)) continue
      t.ok((await kept(node)).includes(word), `${about}: ${word} is kept`)
      if (ends[at] !== 'done')
        t.match(await textOf(node, `.calcfs/drafts/${ids.report}.json`), word, `${about}: it is a draft`)
    }
    for (const node of nodes) await dropDrafts(node)
    const [title, description] = ['title', 'description'].map(field => String(JSON.parse(now)[field]))
    await Promise.all(
      nodes.map((node, at) =>
        until(seenMs, `${about}: mount ${at} shows what is stored (${title}, ${description})`, async () => {
          const text = await textOf(node, path)
          return text.includes(`"${title}"`) && text.includes(`"${description}"`)
        }),
      ),
    )
  }
  t.comment(`${JSON.stringify([...seen])}, ${overwritten} unseen and overwritten`)
})
