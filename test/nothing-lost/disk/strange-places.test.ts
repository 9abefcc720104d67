// Links and files in the places of the directories above our own: a user's link stays, and what is no directory is said. What is damaged below them: test/long/damage.
import { lstatSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { log } from '../../testbed/sample-data.js'
import { textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

const file = 'projects/Water splitting/TS1_opt/run.log'

/** The directories that hold those of all accounts are made by calcfs, too; those above are the user's. */
const parents = ['cache/calcfs', 'state/calcfs']

t.test(
  "DISK-1 a link to a directory of the user's own stays, and so does what is above those of calcfs",
  async t => {
    const testbed = await warmMount(t)
    await testbed.end()
    for (const parent of parents) {
      const elsewhere = join(testbed.local, parent.replace('/', '-'))
      renameSync(join(testbed.home, parent), elsewhere)
      await symlink(elsewhere, join(testbed.home, parent))
    }
    await testbed.mount()
    t.equal(await textOf(testbed, file), log)
    for (const parent of parents) t.ok(lstatSync(join(testbed.home, parent)).isSymbolicLink(), parent)
    for (const above of ['cache', 'state']) {
      await testbed.end()
      renameSync(join(testbed.home, above), join(testbed.home, `${above}.away`))
      await writeFile(join(testbed.home, above), 'of the user')
      const daemon = realMount(t, {}, testbed)
      await t.rejects(daemon, /calcfs: .*not a directory \(ENOTDIR\)/, 'it is said')
      t.equal(readFileSync(join(testbed.home, above), 'utf8'), 'of the user')
      rmSync(join(testbed.home, above))
      renameSync(join(testbed.home, `${above}.away`), join(testbed.home, above))
      await testbed.mount()
    }
  },
)
