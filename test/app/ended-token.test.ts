// A drive whose token alone has ended while the service is away: what is known is shown, and nothing that is written is lost.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ownHome } from '../testbed/commands/own-home.js'
import { command } from '../testbed/commands/warm-commands.js'
import { fillSampleData } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(240_000)

t.test(
  'PIN-2 what is pinned is mounted and read where the token has ended and the service is away',
  async t => {
    const service = await testService(t, fillSampleData)
    const { directory, state, environment } = await ownHome(t, 'ended')
    const calcfs = (...args: string[]) => command(args, environment)
    const logIn = () =>
      command(['login', service.url, '--user', 'demo'], { ...environment, CALCFS_PASSWORD: 'demo' })
    const mount = () => calcfs('mount', '--daemon', service.url, directory)
    const project = join(directory, 'projects/Water splitting')
    const record = join(project, '.project.json')

    t.match(await logIn(), { code: 0 })
    t.match(await mount(), { code: 0 })
    t.match(await calcfs('pin', project), { code: 0 })
    const text = await within(30_000, 'a record', readFile(record, 'utf8'))
    t.match(await calcfs('unmount', directory), { code: 0 })
    const all = await readdir(state, { recursive: true })
    const file = join(state, all.find(name => name.endsWith('token.json')) ?? 'no token')
    const kept = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...kept, received: kept.received - 30 * 24 * 3_600_000 }))
    t.match(await mount(), { code: 3, stderr: /no valid sign-in/ }, 'not of a service that answers')

    await service.leave()
    t.match(await mount(), { code: 0 })
    const content = within(30_000, 'a pinned file', readFile(join(project, 'TS1_opt/input.inp'), 'utf8'))
    t.equal(await content, '! B3LYP opt\n')
    const saved = writeFile(record, text.replace('Water splitting', 'Water'))
    await t.rejects(within(60_000, 'a save', saved), { code: /EHOSTUNREACH|ETIMEDOUT/ })
    t.match(await calcfs('drafts', 'list', '--mount', directory), { code: 7, stdout: /project 100/ })
    t.match(await calcfs('status', directory), { code: 7, stdout: /the service has been away since/ })
    await service.back()
    t.match(await logIn(), { code: 0 })
    // Whether it is back is asked every two seconds.
    const send = () => calcfs('drafts', 'send', '--all', '--mount', directory)
    await until(20_000, 'the draft is sent', async () => (await send()).code === 0)
  },
)
