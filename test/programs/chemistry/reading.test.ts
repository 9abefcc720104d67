// Chemistry programs read calculations straight from a real mount, and say what they say of a copy on the local disk.
import t from 'tap'
import { printed } from '../../testbed/programs.js'
import { daily } from './readers.js'
import { said, trees } from './trees.js'

t.test('PROG-1 chemistry programs read the drive as they read a copy', async t => {
  const { testbed, drive, copy } = await trees(t)
  const { directory, local } = testbed

  for (const reader of daily) {
    t.test(`${reader.program} says the same of the drive as of a copy`, async t => {
      const ofCopy = await said(reader, copy, local)
      t.match(ofCopy, reader.expected)
      t.equal(await said(reader, drive, local), ofCopy)
    })
  }

  t.test('every geometry of the sample is read by Open Babel', async t => {
    const line = `find projects -name '*.xyz' -print0 | xargs -0 -n 1 obabel -ocan 2>&1 | grep -c 'molecule converted'`
    const found = await printed('bash', ['-c', line], { cwd: directory })
    t.ok(Number(found) > 8, `${found.trim()} geometries`)
  })
})
