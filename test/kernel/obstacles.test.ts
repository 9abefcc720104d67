// What keeps the session from a machine, by versions of kernels as their makers name them.
import t from 'tap'
import { kernelObstacle } from '../../src/kernel/obstacles.js'

t.test('a kernel before 4.18 is too old for the session', async t => {
  for (const old of ['2.6.32', '3.10.0-1160.el7.x86_64', '4.9.0-19-amd64', '4.17.19'])
    t.match(kernelObstacle(old), { found: `Linux ${old} is older than 4.18` })
  for (const good of ['4.18.0-553.el8_10.x86_64', '5.10.0-32-amd64', '6.1.0-26-amd64', '10.0'])
    t.equal(kernelObstacle(good), undefined, good)
})
