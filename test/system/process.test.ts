// Whether a process runs, is stopped or has ended, asked of real processes; and how a user is named.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { isProcessAlive, processAt } from '../../src/system/process.js'
import { userPhrase } from '../../src/system/user-name.js'
import { until } from '../testbed/within.js'

function sleeping(): { child: ChildProcess; pid: number } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('sleep could not be started')
  return { child, pid: child.pid }
}

t.test(
  'a process is the same one as long as it runs, stopped or not, and none once it has ended',
  async t => {
    const { child, pid } = sleeping()
    const began = await processAt(pid)
    t.match(began, { isStopped: false, user: process.getuid?.() })
    t.ok(began?.started)
    t.not(began?.started, (await processAt(process.pid))?.started, 'another process is another one')

    child.kill('SIGSTOP')
    await until(10_000, 'it is stopped', async () => (await processAt(pid))?.isStopped === true)
    t.match(await processAt(pid), { started: began?.started, user: began?.user, isStopped: true })
    child.kill('SIGCONT')
    await until(10_000, 'it goes on', async () => (await processAt(pid))?.isStopped === false)
    t.match(await processAt(pid), { started: began?.started, user: began?.user })

    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(await processAt(pid), undefined)
    t.equal(await isProcessAlive(pid), false)
  },
)

t.test('a process that has ended, and whose parent has not asked yet, has ended', async t => {
  // The shell becomes a program that never asks for the end of its child.
  const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line]: unknown[] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  await until(10_000, 'it has ended', async () => !(await isProcessAlive(pid)))
  t.ok(process.kill(pid, 0), 'its number is still taken')
})

t.test('a number that no process can have belongs to none', async t => {
  for (const pid of [0, 2 ** 31 - 1]) t.equal(await processAt(pid), undefined, `${pid}`)
})

t.test('a user is named with name and number (CMD-13)', async t => {
  t.equal(await userPhrase(0), 'root (user id 0)')
  t.equal(await userPhrase(3_999_999_999), 'user id 3999999999', 'one that this machine does not know')
  t.equal(await userPhrase(undefined), 'another user')
})
