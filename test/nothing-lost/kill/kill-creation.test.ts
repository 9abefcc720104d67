// kill -9 at every step of making a report, each once: the service has at most one of it, and the text is never gone.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { creationSteps, killCreation } from './kill-creation.js'

t.setTimeout(240_000)

t.test('kill -9 at every step of making a report', async t => {
  const testbed = await realMount(t)
  for (const [at, step] of creationSteps.entries())
    await t.test(step.name, t => t.resolves(killCreation(testbed, { step, title: `New number ${at}` })))
  t.comment(
    `${creationSteps.length} kills of a daemon that makes a report, none of which cost a text or made two`,
  )
})

t.test('NEW-3 what another client changed before the next mount stays', async t => {
  const testbed = await realMount(t)
  const { service } = testbed
  const [path, text] = [
    'reports/new-changed.json',
    '{"title":"Mine","description":"mine","reportType":"1"}',
  ] as const
  await overwrite(testbed, path, text)
  const { id } = JSON.parse(await textOf(testbed, path))
  await testbed.kill9()
  const theirs = (await service.elsewhere('GET', `/report?id=${id}`)).replace('"mine"', '"theirs"')
  await service.elsewhere('PUT', '/report', theirs)
  await testbed.mount()
  const again = await service.during(() => overwrite(testbed, path, text))
  t.same(writes(again), [])
  t.match(await service.elsewhere('GET', `/report?id=${id}`), '"theirs"')
  t.equal(await outcome(overwrite(testbed, path, text.replace('"mine"', '"mine, too"'))), 'ESTALE')
  t.match(await service.elsewhere('GET', `/report?id=${id}`), '"theirs"')
})

t.test('NEW-2 killed when the draft is gone, the next mount knows what the name has made', async t => {
  const testbed = await realMount(t)
  const shares = 'projects/Water splitting/.shares'
  const texts: readonly (readonly [string, string])[] = [
    ['reports/new-kept.json', '{"title":"Kept over a kill","reportType":"1","calculations":[1234]}'],
    [`${shares}/new-kept.json`, '{"user":"guest","permission":"READ"}'],
  ]
  for (const [path, text] of texts) await overwrite(testbed, path, text)
  await testbed.kill9()
  await testbed.mount()
  const again = await testbed.service.during(async () => {
    for (const [path, text] of texts) await overwrite(testbed, path, text)
  })
  t.same(writes(again), [])
  const edit = texts[0]?.[1].replace('Kept', 'Changed') ?? ''
  const edited = await testbed.service.during(() => overwrite(testbed, 'reports/new-kept.json', edit))
  t.same(writes(edited), ['PUT /report'])
  t.match(await textOf(testbed, 'reports/new-kept.json'), '"Changed over a kill"')
  t.equal((await namesOf(testbed, shares)).length, 1)

  await testbed.remount()
  const anew = await testbed.service.during(() => overwrite(testbed, 'reports/new-kept.json', edit))
  t.same(writes(anew), ['POST /report'], 'after an end in order the name is free')
})
