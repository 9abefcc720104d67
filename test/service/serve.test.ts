// Promises of `calcfs serve`: one line when it listens, one sentence when it cannot, and data that outlive kill -9.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { seedOf } from '../../src/service/seed.js'
import { openData, startService } from '../../src/service/service.js'
import { calcfs } from '../testbed/daemon.js'
import { scratch } from '../testbed/disk/scratch.js'
import { plainNode } from '../testbed/programs.js'
import { withQuickPasswords } from '../testbed/service.js'
import { signedIn } from './client.js'

const command = [calcfs, 'serve']

function start(t: Test, flags: readonly string[], words: readonly string[] = command): ChildProcess {
  const [program, ...first] = plainNode
  const process_ = spawn(program, [...first, ...words, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => process_.kill('SIGKILL'))
  return process_
}

/** The URL in the line that says the service listens. */
async function urlOf(served: ChildProcess): Promise<string> {
  let said = ''
  for await (const piece of served.stdout ?? []) {
    said += piece
    const [url] = /http:\S+/.exec(said) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`it ended without listening: ${said}`)
}

async function run(t: Test, flags: readonly string[], words = command) {
  const served = start(t, flags, words)
  let said = ''
  served.stderr?.on('data', piece => {
    said += piece
  })
  await once(served, 'close')
  return { code: served.exitCode, said }
}

/** A data directory with the users anna and bo. */
async function withUsers(t: Test): Promise<string> {
  const data = await scratch(t)
  const { store, contents } = openData(data)
  const seed = withQuickPasswords(seedOf(store, contents, Date.now))
  seed.addUser({ name: 'anna', password: 'anna' })
  store.close()
  return data
}

t.test('what was answered before kill -9 is there after it, and the old token still holds', async t => {
  const data = await withUsers(t)
  const served = start(t, ['--port', '0', '--data', data])
  const url = await urlOf(served)
  const anna = await signedIn(t, url, 'anna')
  const made: string[] = []
  for (let index = 0; index < 30; index += 1)
    made.push((await anna('POST', '/project', { body: `{"name":"p${index}","description":"d"}` })).text)
  // More requests are on their way when it dies.
  const late = Array.from({ length: 20 }, () =>
    anna('POST', '/project', { body: '{"name":"late","description":"d"}' }).then(
      answer => made.push(answer.text),
      (error: Error) => error,
    ),
  )
  await late[0]
  served.kill('SIGKILL')
  await Promise.all(late)

  const again = start(t, ['--port', '0', '--data', data])
  const client = await signedIn(t, await urlOf(again), 'anna')
  const listed = JSON.parse((await client('GET', '/project/descendant?id=1&type=project')).text)
  const ids: string[] = listed.map((item: { id: number }) => String(item.id))
  t.same(
    made.filter(id => !ids.includes(id)),
    [],
  )
  again.kill('SIGTERM')
  t.same(await once(again, 'close'), [0, null])

  const { store } = openData(data)
  t.match(store.first('PRAGMA integrity_check'), { integrity_check: 'ok' })
  store.close()
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} ends it cleanly, also while a client holds a connection`, async t => {
    const served = start(t, ['--port', '0', '--data', await withUsers(t)])
    const anna = await signedIn(t, await urlOf(served), 'anna')
    await anna('GET', '/user/info')
    served.kill(signal)
    t.same(await once(served, 'close'), [0, null])
  })
}

t.test('a data directory has one service: a second one says so and ends (SERVE-1)', async t => {
  const data = await withUsers(t)
  const first = start(t, ['--port', '0', '--data', data])
  const url = await urlOf(first)
  const link = join(await scratch(t), 'link')
  symlinkSync(data, link)
  for (const directory of [data, link]) {
    const second = await run(t, ['--port', '0', '--data', directory])
    t.equal(second.code, 1)
    t.match(second.said, /^calcfs serve: another calcfs serve uses \/.*; end that one, or .*--data\n$/)
  }
  const anna = await signedIn(t, url, 'anna')
  t.equal((await anna('GET', '/user/info')).status, 200, 'the first goes on')
  await t.rejects(startService({ data }), { message: /another calcfs serve uses/ }, 'in any process')
  first.kill('SIGKILL')
  const third = start(t, ['--port', '0', '--data', data])
  t.match(await urlOf(third), /^http/, 'a killed one holds nothing')
  third.kill('SIGTERM')
  await once(third, 'close')
  const inside = await startService({ data })
  await t.rejects(startService({ data }), { message: /another calcfs serve uses/ })
  await inside.close()
  await (await startService({ data })).close()
})

t.test('what the service keeps can be read by its owner alone (SERVE-1)', async t => {
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const fresh = join(await scratch(t), 'data')
  const foreign = await scratch(t)
  chmodSync(foreign, 0o755)
  writeFileSync(join(foreign, 'notes'), 'mine', { mode: 0o644 })
  for (const data of [fresh, foreign]) {
    const service = await startService({ data })
    service.seed.addUser({ name: 'anna', password: 'anna' })
    const project = service.seed.addProject({ name: 'Dyes', owner: 'anna' })
    service.seed.addCalculation({ name: 'TS1', project, files: { 'a.out': 'x' } })
    const names = readdirSync(data, { recursive: true }).map(String)
    t.ok(names.includes('service.db-wal'))
    for (const name of names.filter(one => one !== 'notes'))
      t.equal(statSync(join(data, name)).mode & 0o077, 0, name)
    await service.close()
  }
  t.equal(statSync(fresh).mode & 0o777, 0o700)
  t.equal(statSync(foreign).mode & 0o777, 0o755, 'a directory that was there stays as it is')
  t.equal(statSync(join(foreign, 'notes')).mode & 0o777, 0o644)
})

t.test('SERVE-1 with --sample it says which users may sign in', async t => {
  const served = start(t, ['--port', '0', '--sample', '--data', await scratch(t)])
  let said = ''
  for await (const piece of served.stdout ?? []) {
    said += piece
    if (/users of the sample.*\n/.test(said)) break
  }
  t.match(
    said,
    /listening on http.*\ncalcfs serve: users of the sample: demo \(password demo\), guest \(password guest\)\n$/,
  )
  const [url = ''] = /http:\S+/.exec(said) ?? []
  await signedIn(t, url, 'guest')
})
