// kill -9 right after a save that was answered well: the next mount knows what was saved, not what a list said before.
import t from 'tap'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, overwrite, textOf } from '../../testbed/testbed.js'

const shares = 'projects/Water splitting/.shares'

t.setTimeout(240_000)

const killed = async (testbed: MountTestbed, work: Promise<unknown>): Promise<void> => {
  await work
  await testbed.kill9()
  await testbed.mount()
}

t.test('kill -9 right after a change that was answered well', async t => {
  const testbed = await realMount(t, { settings: { access: 'manage' } })
  const { files, service } = testbed
  await overwrite(testbed, `${shares}/new.json`, JSON.stringify({ user: 'guest', permission: 'READ' }))
  const share = `${shares}/${(await namesOf(testbed, shares)).find(name => /^\d+\.json$/.test(name))}`

  await t.test('SAVE-16 a permission that was changed is the one that is shown and compared', async t => {
    const before = await textOf(testbed, share)
    const permission = JSON.parse(before).permission
    const after = before.replace(permission, permission === 'READ' ? 'FULLACCESS' : 'READ')
    // What was read is on the disk by then; what the save teaches alone is not.
    await testbed.pass(500)
    await killed(testbed, overwrite(testbed, share, after))
    t.equal(await textOf(testbed, share), after)
    await service.sends(t, ['PUT /project/share'], 'the text of before takes it back', () =>
      overwrite(testbed, share, before),
    )
    t.match(await service.elsewhere('GET', `/project/share?id=${ids.water}`), `"${permission}"`)
  })

  await t.test(
    'SAVE-16 a project that was made is listed, and one that was renamed has its new name',
    async t => {
      await killed(testbed, files.mkdir('projects/Water splitting/Made'))
      t.ok((await namesOf(testbed, 'projects/Water splitting')).includes('Made'))
      await killed(testbed, files.rename('projects/Water splitting/Made', 'projects/Water splitting/Renamed'))
      const names = await namesOf(testbed, 'projects/Water splitting')
      t.ok(names.includes('Renamed') && !names.includes('Made'), names.join())
      await killed(testbed, files.rmdir('projects/Water splitting/Renamed'))
      t.notOk((await namesOf(testbed, 'projects/Water splitting')).includes('Renamed'))
    },
  )
})
