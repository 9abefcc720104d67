// Extended attributes: what is known of a path, from memory, and why it failed last.
import type { Test } from 'tap'
import { ids, log } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'

const calculation = 'projects/Water splitting/TS1_opt'

export function attributes(t: Test, open: OpenTestbed): void {
  t.test('attributes', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    t.equal(await textOf(testbed, `${calculation}/run.log`), log)

    t.test('XATTR-1 id, kind, path and address are attributes; unknown ones are not there', async t => {
      const path = `${calculation}/run.log`
      t.equal(await files.xattr(path, 'user.calcfs.id'), ids.transition)
      t.equal(await files.xattr(path, 'user.calcfs.kind'), 'file')
      t.equal(await files.xattr(path, 'user.calcfs.path'), '/db/demo/Water splitting/TS1_opt/run.log')
      t.equal(await files.xattr(calculation, 'user.calcfs.kind'), 'calculation')
      t.equal(await files.xattr(path, 'user.other'), undefined)
      t.equal(await files.xattr(path, 'security.selinux'), undefined)
      t.ok((await files.xattrs(path)).includes('user.calcfs.cached'))
    })

    t.test('XATTR-1 how much of a file is here is known without asking for it', async t => {
      t.equal(await files.xattr(`${calculation}/run.log`, 'user.calcfs.cached'), '100')
      t.equal(await files.xattr(`${calculation}/input.inp`, 'user.calcfs.cached'), '0')
    })

    t.test('READ-7 the reason of a failure is one of them', async t => {
      service.page(/^GET \/project\/descendant/, '<html>Sign in</html>')
      t.equal(await outcome(files.readdir(`by-id/project/${ids.empty}`)), 'EIO')
      t.match(await files.xattr(`by-id/project/${ids.empty}`, 'user.calcfs.error'), /web page/)
    })
  })
}
