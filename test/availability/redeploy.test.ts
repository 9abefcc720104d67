// A redeploy, or a gateway in front of the service, refuses everything for a while: no backup of the drive is emptied by it.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, textOf } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { warmMount } from '../testbed/warm-mount.js'

const { seed, draw } = drawnFrom()
const statuses = [404, 403, 400, 410] as const
const status = statuses[draw(statuses.length)] ?? 404
/** What is refused: all of it, or the lists alone while the rest of the service answers. */
const refused = { everything: /^\w+ \//, 'every list': /^GET \/project\/descendant/ } as const

for (const [what, which] of Object.entries(refused))
  t.test(
    `STALE-13 LIST-21 ${what} refused with ${status}: a backup keeps all of it (seed ${seed})`,
    async t => {
      const testbed = await warmMount(t, {
        settings: { ttlListing: '1s' },
        adds: seed => seed.addProject({ id: '300', name: 'Short-lived', owner: 'demo', parent: ids.water }),
      })
      const { service, directory, local } = testbed
      const copy = join(local, 'backup')
      const filesIn = async () => (await readdir(copy, { recursive: true })).sort()
      const backup = () =>
        run('rsync', ['-a', '--delete', '--exclude=.shares', `${join(directory, 'projects')}/`, copy])
      t.match(await backup(), { code: 0 })
      const whole = await filesIn()
      t.ok(
        whole.includes('Water splitting/TS1_opt/input.inp') && whole.includes('Water splitting/Short-lived'),
      )

      // A new folder that was not entered before the outage cannot be copied, and rsync has to be told.
      const fresh = service.seed.addProject({ id: '301', name: 'New', owner: 'demo', parent: ids.water })
      service.seed.addCalculation({ id: '3010', name: 'opt', project: fresh, files: { 'a.inp': 'new' } })
      await testbed.pass(1_500)
      t.ok((await namesOf(testbed, 'projects/Water splitting')).includes('New'))
      const mend = service.page(which, '<html>We are sorry</html>', status)
      await testbed.pass(2_500)
      const found = await run('find', [join(directory, 'projects'), '-type', 'f'])
      t.not(found.code, 0, 'find says so')
      const during = await backup()
      t.not(during.code, 0, 'rsync says so')
      const left = await filesIn()
      t.same(
        whole.filter(name => !left.includes(name)),
        [],
        'nothing is gone from the backup',
      )

      mend()
      await service.elsewhere('DELETE', '/project?id=300')
      await testbed.pass(2_500)
      t.match(await backup(), { code: 0 })
      t.equal(await textOf(testbed, 'projects/Water splitting/New/opt/a.inp'), 'new')
      const after = await filesIn()
      t.ok(after.includes('Water splitting/New/opt/a.inp'))
      t.same(
        whole.filter(name => !after.includes(name) && !name.startsWith('Water splitting/Short-lived')),
        [],
      )
      t.notOk(after.includes('Water splitting/Short-lived'), 'what is really gone goes')
    },
  )
