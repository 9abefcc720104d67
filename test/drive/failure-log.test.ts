// What `calcfs why` tells of a path: the failure that a program met, not the answers at which the kernel looks again.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { openFailureLog } from '../../src/drive/failure-log.js'
import { Failure } from '../../src/failure.js'
import { instant } from '../../src/remote/remote.js'

t.test('a full disk is told, whatever the kernel asks again after it (LEASE-1, CLI-1)', async t => {
  const log = openFailureLog(() => instant(Date.now()))
  const path = '/reports/42.json'
  log.note('write', path, new Failure('no-space', 'the local disk is full'))
  for (const kind of ['stale-attributes', 'taken-back', 'absent'] as const)
    log.note('open', path, new Failure(kind, 'the kernel looks again'))
  t.equal(log.met(path, undefined)?.failure.kind, 'no-space')
})

t.test('MEM-1 a failure that is remembered holds nothing of the connection that it was met on', async t => {
  setFlagsFromString('--expose-gc')
  class Connection {
    fail(): Failure {
      return new Failure('unreachable', 'it was reset', { cause: new Error('ECONNRESET') })
    }
  }
  const log = openFailureLog(() => instant(Date.now()))
  function met(): WeakRef<Connection> {
    const connection = new Connection()
    log.note('open', '/reports/42.json', connection.fail())
    return new WeakRef(connection)
  }
  const connection = met()
  await new Promise(setImmediate)
  runInNewContext('gc')()
  t.equal(connection.deref(), undefined)
})
