// Programs that people edit with, let loose on a report of a real mount: each ends as exactly one logical update.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { textOf } from '../ground/ground.js'
import { type MountGround, realMount } from '../ground/mount.js'
import { printed, python, run } from '../ground/programs.js'
import { writes } from '../ground/service.js'
import { until } from '../ground/within.js'
import { ids } from '../ground/world.js'

t.setTimeout(180_000)

const report = `reports/${ids.report}.json`

async function titleOnService({ service }: MountGround): Promise<string> {
  return JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title
}

t.test('programs that write', async t => {
  const ground = await realMount(t)
  const { directory, local, service } = ground
  const here = (program: string, ...args: string[]): Promise<string> =>
    printed(program, args, { cwd: directory })
  let title = 'Supporting information'

  /** Runs an editor that puts another title into the report, and holds it to one PUT. */
  async function oneUpdate(
    name: string,
    work: (fresh: string, old: string) => Promise<unknown>,
  ): Promise<void> {
    const fresh = `Written by ${name}`
    await t.test(`${name} makes one update of it`, async t => {
      const asked = await service.during(async () => {
        await work(fresh, title)
        await until(6000, `the text of ${name} is on the service`, async () => {
          return (await titleOnService(ground)) === fresh
        })
      })
      t.same(writes(asked), ['PUT /report'])
      t.match(JSON.parse(await textOf(ground, report)), { title: fresh })
    })
    title = await titleOnService(ground)
  }

  /** The report with another title, in a file of the local disk. */
  async function localFile(fresh: string, old: string): Promise<string> {
    const file = join(local, 'new.json')
    await writeFile(file, (await textOf(ground, report)).replace(`"${old}"`, `"${fresh}"`))
    return file
  }

  await oneUpdate('sed -i', (fresh, old) =>
    here('sed', '-i', `s/"title": "${old}"/"title": "${fresh}"/`, report),
  )
  await oneUpdate('perl -i', (fresh, old) =>
    here('perl', '-i', '-pe', `s/"title": "${old}"/"title": "${fresh}"/`, report),
  )
  await oneUpdate('python in place', fresh =>
    here(
      python,
      '-c',
      `import json
record = json.load(open("${report}"))
record["title"] = "${fresh}"
del record["weight"], record["serial"], record["x-lab"]
kept = json.loads(open("${report}").read(), parse_float=lambda digits: digits)
text = open("${report}").read().replace(json.dumps(kept["title"]), json.dumps(record["title"]), 1)
open("${report}", "w").write(text)`,
    ),
  )
  await oneUpdate('cp', async (fresh, old) => here('cp', await localFile(fresh, old), report))
  await oneUpdate('mv from another file system', async (fresh, old) =>
    here('mv', await localFile(fresh, old), report),
  )
  await oneUpdate('tee', async (fresh, old) => {
    const file = await localFile(fresh, old)
    return here('bash', '-c', `tee ${report} < '${file}' > /dev/null`)
  })
  await oneUpdate('dd', async (fresh, old) =>
    here('dd', `if=${await localFile(fresh, old)}`, `of=${report}`, 'conv=fsync', 'status=none'),
  )
  await oneUpdate('rsync', async (fresh, old) => here('rsync', await localFile(fresh, old), report))
  await oneUpdate('rsync --inplace', async (fresh, old) =>
    here('rsync', '--inplace', await localFile(fresh, old), report),
  )
  await oneUpdate('vim -es', (fresh, old) =>
    here(
      'vim',
      '-u',
      'NONE',
      '-i',
      'NONE',
      '-es',
      '-c',
      `%s/"title": "${old}"/"title": "${fresh}"/`,
      '-c',
      'wq',
      report,
    ),
  )

  /** Types keys into a program that runs in a terminal of its own, and waits until it has ended. */
  async function typed(command: string, keys: readonly (readonly string[])[]): Promise<void> {
    const socket = ['-S', join(local, 'tmux')]
    await printed('tmux', [
      ...socket,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-s',
      'edit',
      '-c',
      directory,
      command,
    ])
    const screen = async () => (await run('tmux', [...socket, 'capture-pane', '-p', '-t', 'edit'])).stdout
    try {
      await until(10_000, `${command} shows the report`, async () => (await screen()).includes('"title"'))
      for (const some of keys) await printed('tmux', [...socket, 'send-keys', '-t', 'edit', ...some])
      await until(15_000, `${command} has ended`, async () => {
        return (await run('tmux', [...socket, 'has-session', '-t', 'edit'])).code !== 0
      })
    } finally {
      await run('tmux', [...socket, 'kill-server'])
    }
  }

  await oneUpdate('vim', (fresh, old) =>
    typed(`vim -u NONE -i NONE ${report}`, [
      ['-l', `:%s/"title": "${old}"/"title": "${fresh}"/`],
      ['Enter'],
      ['-l', ':wq'],
      ['Enter'],
    ]),
  )
  await oneUpdate('nano', (fresh, old) =>
    typed(`nano --ignorercfiles ${report}`, [
      ['C-\\'],
      ['-l', `"title": "${old}"`],
      ['Enter'],
      ['-l', `"title": "${fresh}"`],
      ['Enter'],
      ['-l', 'a'],
      ['C-o'],
      ['Enter'],
      ['C-x'],
    ]),
  )

  t.test('cat over itself and truncate to its own length send nothing', async t => {
    const asked = await service.during(async () => {
      await here('bash', '-c', `cat ${report} > '${local}/same' && cat '${local}/same' > ${report}`)
      await here('bash', '-c', `truncate -s $(stat -c %s ${report}) ${report}`)
      await here('touch', report)
    })
    t.same(writes(asked), [])
  })

  t.test('a file cannot be copied into a calculation, and cp says so', async t => {
    const { code, stderr } = await run('cp', ['/etc/hostname', 'projects/Water splitting/TS1_opt/'], {
      cwd: directory,
    })
    t.equal(code, 1)
    t.match(stderr, /not permitted/)
  })
})
