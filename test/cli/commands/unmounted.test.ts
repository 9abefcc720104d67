// Promises of `calcfs drafts` and `calcfs report` where no drive is mounted: what an earlier one left can be looked at and sent.
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type MountGround, realMount } from '../../testbed/mount.js'
import { shell } from '../../testbed/programs.js'
import { writes } from '../../testbed/service.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'

t.setTimeout(480_000)

const path = 'reports/42.json'

/** A mount that was killed while a text waited that the service had refused. */
async function leftBehind(t: Test): Promise<{ ground: MountGround; text: string; well: () => void }> {
  const ground = await realMount(t)
  const text = (await textOf(ground, path)).replace('Supporting information', 'SI of the paper')
  const well = ground.service.spoil(/^PUT \/report/, response => {
    response.writeHead(500)
    response.end()
  })
  t.not(await outcome(overwrite(ground, path, text)), 'done')
  await ground.kill9()
  return { ground, text, well }
}

const calcfs = ({ calcfs, service }: MountGround, ...args: string[]) =>
  calcfs(...args, '--url', service.url, '--user', 'demo')

t.test('without a daemon drafts are listed, shown, compared and sent as with one (CLI-15)', async t => {
  const { ground, text, well } = await leftBehind(t)
  for (const time of ['the first time', 'again']) {
    const list = await calcfs(ground, 'drafts', 'list')
    t.match(list, { code: 7, stderr: '', stdout: /^42\.json: report 42, refused since / }, time)
  }
  t.match(await calcfs(ground, 'drafts', 'show', '42'), { code: 0, stdout: text })
  const { stdout } = await calcfs(ground, 'drafts', 'diff', '42')
  t.match(stdout, /^--- what the service has now\n\+\+\+ 42\.json, not saved\n/m)
  t.match(await calcfs(ground, 'drafts', 'send', '42'), { code: 1, stderr: /42\.json is not saved: / })
  well()
  const sent = await ground.service.during(async () => {
    t.match(await calcfs(ground, 'drafts', 'send', '--all'), { code: 0, stdout: /report 42 is saved/ })
  })
  t.same(writes(sent), ['PUT /report'])
  t.match(await ground.service.elsewhere('GET', '/report?id=42'), 'SI of the paper')
  t.match(await calcfs(ground, 'drafts', 'list'), { code: 0, stdout: 'everything is saved.\n' })
  await ground.mount()
  t.notOk((await ground.files.readdir('.calcfs/drafts')).size)
  t.match(await textOf(ground, path), 'SI of the paper')
})

t.test('what was looked at without a daemon is shown by the next mount as before (CLI-15)', async t => {
  const { ground, text } = await leftBehind(t)
  t.match(await calcfs(ground, 'drafts', 'list'), { code: 7 })
  await ground.mount()
  t.equal(await textOf(ground, path), text)
  const list = await calcfs(ground, 'drafts', 'list', '--json')
  t.match(
    JSON.parse(list.stdout),
    [{ name: '42.json', state: 'refused' }],
    '--url finds the daemon of that service',
  )
})

t.test('drop without a daemon needs no service (CLI-15)', async t => {
  const { ground } = await leftBehind(t)
  await ground.service.leave()
  t.match(await calcfs(ground, 'drafts', 'drop', '42'), {
    code: 0,
    stdout: /report 42 is as the service has it; its text lies in /,
  })
  t.match(await calcfs(ground, 'drafts', 'list'), { code: 0 })
  await ground.service.back()
})

t.test('report works without a daemon, and a later mount knows what was added (CLI-15)', async t => {
  const ground = await realMount(t)
  await ground.terminate()
  t.match(await calcfs(ground, 'report', 'add', '43'), { code: 0 })
  t.match(await calcfs(ground, 'report', 'renumber', '43', '1235', '1234'), { code: 0, stdout: /c2 c2\+c1/ })
  await ground.mount()
  t.ok((await ground.files.readdir('reports')).has('43.json'))
  t.match(await textOf(ground, 'reports/43.json'), /"c2\\nc2\+c1"/)
})

t.test('whoever reads only the first lines is told nothing of a broken pipe', async t => {
  const program = fileURLToPath(new URL('../../../../bin/calcfs', import.meta.url))
  const ended = await shell(`(sleep 0.5; '${process.execPath}' '${program}' --help) | true`, '/')
  t.match(ended, { code: 0, stderr: '' })
})

t.test('a wrong name or flag is one sentence and exit code 2 (CLI-15)', async t => {
  const ground = await realMount(t)
  await ground.terminate()
  t.match(await ground.calcfs('drafts', 'sned', '42'), { code: 2, stderr: /^calcfs: unknown command 'sned'/ })
  t.match(await ground.calcfs('drafts', 'send', '--agian', '42'), {
    code: 2,
    stderr: /^calcfs: unknown option/,
  })
  const both = await calcfs(ground, 'drafts', 'list', '--mount', ground.directory)
  t.match(both, { code: 2, stderr: /cannot be used with option '--url/ })
})
