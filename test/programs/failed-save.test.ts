// vim, whose save fails because the service is away: the next :w sends all that its buffer says.
import { join } from 'node:path'
import t from 'tap'
import { ids } from '../testbed/sample-data.js'
import { terminal } from '../testbed/terminal.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

const report = `reports/${ids.report}.json`
t.setTimeout(120_000)

const settings = ['backupcopy=yes', 'backupcopy=no', 'backup', 'nowritebackup nobackup']

for (const [at, set] of settings.entries())
  t.test(`DRAFT-2 vim (${set}) saves again after a failed :w, and one more letter`, async t => {
    const testbed = await warmMount(t)
    const { service } = testbed
    const tmux = await terminal(
      t,
      `vim -u NONE -c 'set backupskip= ${set}' '${join(testbed.directory, report)}'`,
    )
    await tmux.until(/"title"/)
    const title = `Unsent ${at}`
    await tmux.type(`:%s/"title": "[^"]*",$/"title": "${title}",/`)
    const mend = service.intercept(
      /^(GET|PUT) \/report/,
      response => void response.writeHead(503).end('away'),
    )
    await tmux.type(':w')
    await tmux.until(/E\d+:|WARNING/)
    await tmux.keys('Enter')
    mend()
    await tmux.type(':%s/"description": "[^"]*"/"description": "One letter"/', ':w')
    const isAsked = async () => /\(y\/n\)/.test(await tmux.screen())
    const there = async () => JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`))
    await until(15_000, 'the second save', async () => {
      if (await isAsked()) await tmux.type('y')
      return (await there()).description === 'One letter'
    })
    t.equal((await there()).title, title, 'what the first :w could not send')
    await tmux.type(':q!')
    await tmux.ended()
  })
