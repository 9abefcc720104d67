// Unsaved texts are for the owner of the mount only, also where others may look at the drive (--allow-other).
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`

export function privateDrafts(t: Test, open: OpenTestbed): void {
  t.test('STATE-2 no other user can read an unsaved text', async t => {
    const { files, ...testbed } = await open(t)
    const mode = async (path: string) => (await files.lstat(path)).mode
    t.equal(await mode('.calcfs/drafts'), 0o700)
    t.equal(await mode(report), 0o644)
    for (const path of [report, 'reports/new-secret.json', `reports/${ids.profile}/order.txt`]) {
      t.equal(await outcome(overwrite({ files, ...testbed }, path, '{ "secret": not yet')), 'EINVAL')
      t.equal(await mode(path), 0o600, path)
    }
    for (const name of (await files.readdir('.calcfs/drafts')).keys())
      t.equal(await mode(`.calcfs/drafts/${name}`), 0o400, name)
    for (const name of (await files.readdir('.calcfs/drafts')).keys())
      if (!/\.(why|theirs\.json)$/.test(name)) await files.unlink(`.calcfs/drafts/${name}`)
    // The kernel's cached attributes hold for a second.
    await testbed.pass(1100)
    t.equal(await mode(report), 0o644)
  })
}
