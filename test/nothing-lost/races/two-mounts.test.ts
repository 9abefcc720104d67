// Two daemons on one state directory save one record at the same moment: both texts are to be had each time.
import t from 'tap'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { namesOf, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { editorOn, storedAs, wordIn } from './editors.js'

const pairs = Number(process.env['CALCFS_PAIRS'] ?? 30)

t.setTimeout(570_000)

t.test('STATE-1 two mounts of one state directory save at the same moment', { timeout: 580_000 }, async t => {
  const one = await realMount(t)
  const { service } = one
  const other = await realMount(t, { settings: { ttlRecord: '100ms' } }, { service, home: one.home })
  // A round trip in which the other mount can come between.
  service.intercept(/^(GET|PUT) \/report/, async (_response, { carryOut }) => {
    const answer = await carryOut()
    await new Promise(wake => setTimeout(wake, 15))
    answer()
  })
  const counts = { merged: 0, refused: 0, lost: 0 }
  for (let pair = 0; pair < pairs; pair++) {
    const id = service.seed.addReport({
      id: `${1000 + pair}`,
      name: 'R',
      title: 't',
      owner: 'demo',
      fields: '{"note":"n"}',
    })
    const [mine, theirs] = [await editorOn(one, id), await editorOn(other, id)]
    const isSame = pair % 2 === 0
    mine.edit('title', `mine ${pair}`)
    theirs.edit(isSame ? 'title' : 'description', `theirs ${pair}`)
    const ends = await Promise.all([mine.save(), theirs.save()])
    const stored = await storedAs(service, id)
    const title = wordIn(stored, 'title')
    if (!isSame) {
      t.same(ends, ['done', 'done'])
      t.same([title, wordIn(stored, 'description')], [`mine ${pair}`, `theirs ${pair}`])
      counts.merged++
      continue
    }
    t.same([...ends].sort(), ['ESTALE', 'done'], 'one is stored, and the other one gets an error')
    t.equal(title, ends[0] === 'done' ? `mine ${pair}` : `theirs ${pair}`)
    const loser: MountTestbed = ends[0] === 'done' ? other : one
    t.match(await textOf(loser, `.calcfs/drafts/${id}.json`), ends[0] === 'done' ? /theirs/ : /mine/)
    await loser.files.unlink(`.calcfs/drafts/${id}.json`)
    counts.refused++
  }
  t.comment(JSON.stringify(counts))
  t.same([await namesOf(one, '.calcfs/drafts'), await namesOf(other, '.calcfs/drafts')], [[], []])

  t.test('STATE-1 a mount that is killed in a save keeps no other mount from saving', async t => {
    const id = service.seed.addReport({
      id: '5000',
      name: 'R',
      title: 't',
      owner: 'demo',
      fields: '{"note":"n"}',
    })
    const [mine, theirs] = [await editorOn(one, id), await editorOn(other, id)]
    let isHeld = false
    const mend = service.intercept(/^PUT \/report/, () => {
      isHeld = true
    })
    mine.edit('title', 'mine')
    const end = mine.save().catch(String)
    await until(10_000, 'the PUT is held', () => isHeld)
    await one.kill9()
    mend()
    theirs.edit('description', 'theirs')
    t.equal(await theirs.save(), 'done')
    t.equal(wordIn(await storedAs(service, id), 'description'), 'theirs')
    await end
  })
})
