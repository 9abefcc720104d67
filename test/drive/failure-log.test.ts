// What `calcfs why` tells of a path: the failure that a program met, not the answers at which the kernel looks again.
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
