// Desktop notices: each cause once until it is mended, told by the desktop's own program.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { scratch } from '../../testbed/disk/scratch.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

t.jobs = 3

const record = 'reports/42.json'

/** Saves what is no record; the program hears of it. */
const spoil = async (testbed: KernelTestbed) =>
  outcome(overwrite(testbed, record, (await textOf(testbed, record)).replace('{', '{,')))

t.test(
  'NOTIFY-1 the program of the desktop hears of an edit that waits, once, and again after it was mended',
  async t => {
    const made = await scratch(t)
    const heard = join(made, 'heard')
    const program = join(made, 'notify-send')
    await writeFile(program, `#!/bin/sh\n[ "$1" = --version ] || printf '%s\\n' "$@" end >> '${heard}'\n`)
    await chmod(program, 0o755)
    const environment = { CALCFS_NOTIFY: 'yes', PATH: `${made}:${process.env['PATH']}` }
    const testbed = await realMount(t, { environment })
    const notices = async (): Promise<number> =>
      (await readFile(heard, 'utf8').catch(() => '')).split('\n').filter(line => line === 'end').length
    t.match(await spoil(testbed), /EINVAL/)
    await until(60_000, 'a notice', async () => (await notices()) === 1)
    t.match(
      await readFile(heard, 'utf8'),
      /^--app-name=calcfs\n--\ncalcfs: an edit is not saved\n42\.json: report 42: /,
    )
    t.match(await testbed.here('drafts', 'drop', '42.json'), { code: 0 })
    // A look is taken every five seconds; this one finds nothing that waits.
    await new Promise(wake => setTimeout(wake, 8_000))
    t.equal(await notices(), 1)
    await spoil(testbed)
    await until(60_000, 'another notice', async () => (await notices()) === 2)
  },
)
