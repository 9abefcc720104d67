// Promises of the commands that watch: top, log and status, on drives of their own.
import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { calcfs, mountPatience } from '../../testbed/daemon.js'
import { isMounted, type KernelTestbed, realMount } from '../../testbed/mount.js'
import { plainNode } from '../../testbed/programs.js'
import { watched } from '../../testbed/session/watched.js'
import { terminal } from '../../testbed/terminal.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until, within } from '../../testbed/within.js'

/** A command that goes on, without a terminal. */
function following(t: Test, testbed: KernelTestbed, ...args: string[]) {
  const [program, ...first] = plainNode
  const child = spawn(program, [...first, calcfs, ...args], {
    env: testbed.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', piece => {
      said += piece
    })
  const end = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  t.teardown(() => void child.kill('SIGKILL'))
  return {
    text: () => said,
    until: (form: RegExp) =>
      until(mountPatience, `${args[0]} to say ${form}`, () => form.test(said)).catch(cause => {
        throw new Error(`it said ${said}`, { cause })
      }),
    ended: () => within(mountPatience, 'the end of the command', end),
  }
}

const record = 'reports/42.json'

t.test('watching one drive', async t => {
  const testbed = await realMount(t)
  const { directory } = testbed

  await t.test('WATCH-1 top shows calls, requests and what is kept; once and as JSON', async t => {
    await textOf(testbed, record)
    const text = await testbed.calcfs('top', directory, '--once')
    t.match(text, { code: 0, stdout: /getattr .* in all/ })
    t.match(text.stdout, /requests +200 /)
    t.match(text.stdout, /everything is saved/)
    const [picture] = JSON.parse((await testbed.calcfs('top', directory, '--json')).stdout)
    t.match(picture, { mountPoint: directory, user: 'demo', waiting: [], saves: [], downloads: [] })
    const opens = (picture.calls as { verb: string; count: number }[]).find(({ verb }) => verb === 'open')
    t.ok((opens?.count ?? 0) > 0)
    const { cache } = picture
    await textOf(testbed, 'projects/Water splitting/H2O/output.cml')
    await textOf(testbed, 'projects/Water splitting/H2O/output.cml')
    const [later] = JSON.parse((await testbed.calcfs('top', directory, '--json')).stdout)
    t.ok(later.cache.bytesArriving + later.cache.bytesKept > cache.bytesArriving + cache.bytesKept)
  })

  await t.test(
    'WATCH-1 top names a call that waits, what it waits for, and an edit that is not saved',
    async t => {
      const { open } = testbed.service.hold(/GET \/report\?id=4711/)
      const waiting = testbed.files.stat('reports/4711.json').catch(() => undefined)
      await until(mountPatience, 'the call in top', async () => {
        const { stdout } = await testbed.calcfs('top', directory, '--once')
        return /(?:getattr|lookup) \/reports\/4711\.json, for GET \/\S*report\?id=4711/.test(stdout)
      })
      open()
      await waiting
      const text = await textOf(testbed, record)
      t.match(await outcome(overwrite(testbed, record, text.replace('{', '{,'))), /EINVAL/)
      t.match(
        (await testbed.calcfs('top', directory, '--once')).stdout,
        /not saved +42\.json: report 42 \(not saved, /,
      )
      const ill = { status: 503, text: 'one edit is not saved: calcfs drafts list\n' }
      t.same(await watched(testbed, 'healthz'), ill)
      t.match(await testbed.here('drafts', 'drop', '42.json'), { code: 0 })
      t.match(await watched(testbed, 'healthz'), { status: 200 })
    },
  )

  await t.test('WATCH-4 a command whose terminal is closed ends in order, a mount as well', async t => {
    const command = `${plainNode.join(' ')} ${calcfs}`
    const other = join(testbed.home, 'closed')
    await mkdir(other)
    const lines = [
      [`top ${directory}`, / as demo, mounted for/],
      [`log ${directory}`, /mounted on /],
      [`mount ${testbed.service.url} ${other} --user demo`, /mounted on /],
    ] as const
    for (const [at, [line, form]] of lines.entries()) {
      const end = join(testbed.home, `end-${at}`)
      const error = join(testbed.home, `error-${at}`)
      // As the shell of a window does, it hands its signal on.
      const inShell = `trap 'kill -HUP $!' HUP; ${command} ${line} 2> >(tee ${error}) & wait; wait $!; echo ended $? > ${end}`
      const screen = await terminal(t, `bash -c "${inShell.replaceAll('$', '\\$')}"`, testbed.environment)
      await screen.until(form)
      await screen.close()
      const ended = () => readFile(end, 'utf8').catch(() => '')
      await until(mountPatience, `${line} to end`, async () => /ended/.test(await ended()))
      t.equal(await ended(), 'ended 0\n', line)
      t.notMatch(await readFile(error, 'utf8'), /Assertion|Error:/, line)
    }
    t.notOk(await isMounted(other))
  })

  await t.test('WATCH-1 top is redrawn on a terminal, and leaves it in order at Ctrl-C', async t => {
    const screen = await terminal(t, 'bash --norc', testbed.environment)
    const command = `${plainNode.join(' ')} ${calcfs}`
    await screen.type(`clear; ${command} top ${directory}; echo ended $?`)
    await screen.until(/getattr/)
    await textOf(testbed, record)
    await screen.until(/open +[\d.]+\/s/)
    await screen.keys('C-c')
    await screen.until(/ended 0/)
    t.equal((await screen.screen()).match(/ as demo, mounted for/g)?.length, 1, 'one picture is left')
    await screen.type(`clear; TERM=dumb ${command} top ${directory}; echo plain $?`)
    await screen.until(/plain 0/)
    t.equal(
      (await screen.screen()).match(/ as demo, mounted for/g)?.length,
      1,
      'what cannot be redrawn is printed once',
    )
  })

  await t.test(
    'WATCH-4 log follows the file of a daemon, over its rotation, by level, and ends with it',
    async t => {
      const { stdout } = await testbed.calcfs('log', directory, '-n', '5', '--json')
      t.match(JSON.parse(stdout.split('\n')[0] ?? ''), { level: 30, msg: String })
      const follow = following(t, testbed, 'log', directory, '--level', 'warn')
      await outcome(writeFile(join(directory, 'projects/Water splitting/H2O/first.txt'), 'x'))
      await follow.until(/WARN: /)
      t.notMatch(follow.text(), /INFO/)
      await testbed.terminate()
      t.equal(await follow.ended(), 0)
      t.match(follow.text(), /the daemon has ended/)
    },
  )
})
