// A list that is refused says nothing of what is in it.
import type { Test } from 'tap'
import { namesOf, type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'

export function listsInDoubt(t: Test, open: OpenTestbed): void {
  t.test('LIST-21 files that were listed are not gone by a 404 of their list alone', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    const known = await namesOf(testbed, folder)
    t.ok(known.includes('run.log') && known.includes('TS1_opt.xyz'))
    const mend = service.refuse(/^GET \/calculation\/files\?/, 404, '{}')
    const look = async (): Promise<readonly string[]> => {
      await testbed.pass(3200)
      await files.touch(folder)
      return namesOf(testbed, folder)
    }
    t.same(await look(), known)
    t.equal(await textOf(testbed, `${folder}/input.inp`), '! B3LYP opt\n')
    t.same(await look(), known)
    mend()
    t.same(await look(), known)
    const gone = service.refuse(/^GET \/calculation\/files\?/, 404, '{}')
    t.same(await look(), known)
    if (testbed.name === 'in-process') {
      await testbed.pass(130_000)
      t.same(await look(), known)
    }
    gone()
    t.same(await look(), known)
  })

  t.test('STALE-5 a list that is refused says nothing of what is in it', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    await namesOf(testbed, 'projects/Water splitting')
    service.refuse(/^GET \/calculation\/files\?/, 400, '{}')
    t.equal(await outcome(files.lstat(`${folder}/run.log`)), 'EINVAL')
    t.equal(await outcome(files.readdir(folder)), 'EINVAL')
  })
}
