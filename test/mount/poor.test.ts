// A service that lacks everything an instance may lack still has a drive.
import t from 'tap'
import { poor } from '../../src/service/store/options.js'
import { ids, log } from '../testbed/sample-data.js'
import { namesOf, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'

t.test('ROOT-1 with every switch of the service off, what is typed is found, listed and read', async t => {
  const testbed = await warmMount(t, { service: { shortcomings: poor } })
  t.same(await namesOf(testbed, 'projects'), ['README.txt'])
  const calculation = 'projects/Water splitting/TS1_opt'
  t.equal((await testbed.files.lstat(`${calculation}/run.log`)).size, log.length)
  t.equal(await textOf(testbed, `${calculation}/run.log`), log)
  t.match(await textOf(testbed, `${calculation}/TS1_opt.xyz`), /^3\n/)
  t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
  t.match(await textOf(testbed, `reports/${ids.report}.json`), /Supporting information/)
  t.match(await textOf(testbed, '.calcfs/report-types.json'), /Reaction Graph/)
})
