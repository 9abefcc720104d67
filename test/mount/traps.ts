// Traps of the kernel that reading, saving and the life of a mount can meet, however the kernel is spoken to.
import { readFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { isMounted, type KernelTestbed, realMount } from '../testbed/mount.js'
import { printed, python } from '../testbed/programs.js'
import { ids, log } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

const calculation = 'projects/Water splitting/TS1_opt'
const report = `reports/${ids.report}.json`

/** What a Python program prints that runs in the mount point. */
const pythonIn = (testbed: KernelTestbed, program: string): Promise<string> =>
  printed(python, ['-c', program], { cwd: testbed.directory })

async function titleOnService({ service }: KernelTestbed): Promise<string> {
  return JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title
}

/** @param settings say how the kernel is spoken to */
export function traps(t: Test, settings: Readonly<Record<string, string>>): void {
  t.test('reading', async t => {
    const testbed = await warmMount(t, { settings })

    t.test('NAME-7 a name that is not UTF-8 is EILSEQ', async t => {
      const program = 'import os\ntry: os.stat(b"projects/\\xff\\xfe")\nexcept OSError as e: print(e.errno)'
      t.equal((await pythonIn(testbed, program)).trim(), '84')
    })

    t.test('a file that is mapped into memory is right at every place', async t => {
      const program = `
import mmap
with open("${calculation}/run.log", "rb") as file:
    view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    print(len(view), view[250000:250009].decode(), view[-10:-1].decode())`
      t.equal((await pythonIn(testbed, program)).trim(), `300000 ${log.slice(250_000, 250_009)} 000029999`)
    })
  })

  t.test('saving', async t => {
    const testbed = await warmMount(t, { settings })
    const { files, service } = testbed

    t.test('a text appended with O_APPEND stands at the end', async t => {
      await printed('bash', ['-c', `printf ' \\n' >> ${report}`], { cwd: testbed.directory })
      t.equal(await outcome(files.lstat(report)), 'done')
      const added = '{"id": 42}'
      const program = `
try:
    with open("${report}", "a") as file: file.write('${added}')
except OSError as failed: print(failed.strerror)`
      t.equal(await pythonIn(testbed, program), 'Invalid argument\n')
      t.ok((await textOf(testbed, report)).endsWith(added))
      await overwrite(testbed, report, await service.elsewhere('GET', `/report?id=${ids.report}`))
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    })

    t.test('a text that a mapping wrote is saved when the file is let go', async t => {
      const program = `
import mmap
with open("${report}", "r+b") as file:
    view = mmap.mmap(file.fileno(), 0)
    at = view.find(b"Supporting information")
    view[at:at + 22] = b"Mapped into the memory"
    view.flush()
    view.close()`
      await service.sends(t, ['PUT /report'], async () => {
        await pythonIn(testbed, program)
        await until(5000, 'the mapped text is saved', async () => {
          return (await titleOnService(testbed)) === 'Mapped into the memory'
        })
      })
    })
  })

  t.test('the life of a mount', async t => {
    const testbed = await realMount(t, { settings })

    t.test('a mount point that kill -9 left dead is taken over by the next mount', async t => {
      await testbed.kill9()
      t.equal(await outcome(testbed.files.statfs()), 'ENOTCONN')
      await testbed.mount()
      t.ok((await namesOf(testbed, '')).includes('projects'))
    })

    t.test('a program that waits in the drive keeps nothing from being unmounted', async t => {
      const file = await testbed.files.open(`${calculation}/run.log`, 'r')
      t.equal(await testbed.terminate(), 0)
      t.notOk(await isMounted(testbed.directory))
      t.match(await outcome(file.close()), /^(done|ENOTCONN)$/)
      await testbed.mount()
    })

    t.test(
      'calcfs unmount waits until the daemon has ended; where a program stands in the drive it says so, and --force ends it',
      async t => {
        const file = await testbed.files.open(`${calculation}/input.inp`, 'r')
        const busy = await testbed.calcfs('unmount', testbed.directory)
        t.not(busy.code, 0)
        t.match(busy.stderr, /in use/)
        t.equal((await testbed.calcfs('unmount', '--force', testbed.directory)).code, 0)
        t.notOk(await isMounted(testbed.directory))
        t.match(await outcome(file.close()), /^(done|ENOTCONN)$/)
        await testbed.mount()
      },
    )

    t.test(
      'the kernel lists the mount as calcfs, and never lets root-only bits or devices through',
      async t => {
        const line = (await readFile('/proc/self/mountinfo', 'utf8'))
          .split('\n')
          .find(one => one.includes(testbed.directory))
        t.match(line, /fuse\.calcfs/)
        t.match(line, /nosuid,nodev/)
      },
    )
  })
}
