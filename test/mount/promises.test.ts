// What the session promises to programs on a real mount: waits side by side and mounts inside the drive.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import t from 'tap'
import { realMount } from '../testbed/mount.js'
import { printed, python, shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { lines } from '../testbed/service.js'
import { isThere, outcome } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const water = 'projects/Water splitting'
/** Not as the working directory of a process that this one starts: it would wait for the service in this one. */
const inside = (directory: string, line: string) => shell(`cd '${directory}' && ${line}`, '/')

t.test('six lookups in one directory wait side by side, and another file answers meanwhile', async t => {
  const { service, directory } = await realMount(t, { settings: { deadlineMetadata: '100s' } })
  await printed('stat', [`${directory}/by-id/calculation`])
  const held = service.hold(/^GET \/calculation\?id=70\d/, 'request')
  const six = inside(`${directory}/by-id/calculation`, '{ for n in 1 2 3 4 5 6; do stat 70$n & done; wait; }')
  const asked = () => new Set(lines(service.heard).filter(line => /^GET \/calculation\?id=70/.test(line)))
  await until(20_000, 'six questions', () => asked().size === 6)
  await printed('stat', [`${directory}/by-id/calculation/${ids.transition}`])
  await printed('cat', [`${directory}/reports/${ids.report}.json`])
  held.open()
  await six
})

t.test(
  'TOLD-4 a mount inside the drive stays, and a working directory is one, while changes are told',
  async t => {
    const testbed = await realMount(t, { settings: { ttlListing: '300ms' } })
    const { service, directory, local } = testbed
    const at = `${directory}/${water}/TS1_opt`
    const standing = spawn(python, ['-c', standingIn, at], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => standing.kill('SIGKILL'))
    let said = ''
    standing.stdout.on('data', piece => {
      said += piece
    })
    const mayMount = process.getuid?.() === 0
    if (mayMount) {
      await mkdir(`${local}/within`)
      await writeFile(`${local}/within/here`, 'inside')
      await printed('mount', ['--bind', `${local}/within`, at.replace('TS1_opt', 'Sub project')])
      t.teardown(() => printed('umount', [at.replace('TS1_opt', 'Sub project')]))
    }
    for (let round = 0; round < 20; round += 1) {
      await service.edit('project', ids.water, { description: `d${round}` })
      await inside(
        directory,
        `touch '${water}' '${water}/TS1_opt' projects reports; ls -lR '${water}' > /dev/null`,
      )
    }
    if (mayMount) t.equal(await printed('cat', [`${at.replace('TS1_opt', 'Sub project')}/here`]), 'inside')
    standing.kill('SIGTERM')
    await once(standing, 'close')
    t.match(said, /^[1-9]\d* 0$/m, 'pwd, how often and how often not')
  },
)

const standingIn = `import os, signal, sys, time
os.chdir(sys.argv[1])
tried, failed = 0, 0
def end(*_):
    print(tried, failed, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    tried += 1
    try:
        if os.getcwd() != sys.argv[1]: failed += 1
    except OSError:
        failed += 1
    time.sleep(0.002)
`

t.test('TOLD-7 a directory is told of while a call in it waits for its whole deadline', async t => {
  const testbed = await realMount(t, {
    settings: { ttlListing: '8s', deadlineMetadata: '3s' },
  })
  const { files, service, directory } = testbed
  await files.readdir(water)
  const mend = service.intercept(/calculation\/xyz|files\?id=1236|GET .*1236/, () => {})
  const waiting = outcome(files.lstat(`${water}/No geometry/job.mop`))
  for (let at = 0; at < 5; at += 1) await testbed.calcfs('refresh', `${directory}/${water}`)
  t.equal(await outcome(files.lstat(`${water}/TS1_opt/input.inp`)), 'done')
  t.match(await waiting, /ETIMEDOUT|done/)
  mend()
  await until(20_000, 'all is as before', () => isThere(testbed, `${water}/No geometry/job.mop`))
})
