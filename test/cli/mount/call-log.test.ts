// Lines of the log about calls: failures, once a minute and cause at info.
import { pino } from 'pino'
import t from 'tap'
import { logFailures } from '../../../src/cli/mount/call-log.js'
import { openFailureLog } from '../../../src/drive/failure-log.js'
import { Failure, type FailureKind } from '../../../src/failure.js'
import { instant } from '../../../src/remote/remote.js'

function bed(level: 'debug' | 'info') {
  let time = 0
  let timers: { readonly due: number; readonly action: () => void }[] = []
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null }, { write: line => void lines.push(JSON.parse(line)) })
  const clock = {
    now: () => time,
    after: (milliseconds: number, action: () => void) => timers.push({ due: time + milliseconds, action }),
  }
  return {
    ports: { log, clock },
    lines,
    pass(milliseconds: number) {
      time += milliseconds
      const due = timers.filter(one => one.due <= time)
      timers = timers.filter(one => one.due > time)
      for (const { action } of due) action()
    },
  }
}

t.test(
  'LOG-5 failures of a kind and sentence are one line a minute; what is no trouble has none',
  async t => {
    const { ports, lines, pass } = bed('info')
    const failed = logFailures(
      openFailureLog(() => instant(0)),
      ports,
    )
    const kinds: readonly FailureKind[] = ['absent', 'no-attribute', 'exists', 'stale-attributes']
    for (const kind of kinds) failed('getattr', '/x', new Failure(kind, 'daily work'))
    t.equal(lines.length, 0)
    for (let at = 0; at < 10_000; at += 1)
      failed(
        'read',
        `/projects/A/${at}`,
        new Failure('timeout', `no answer to GET /calculation?id=${at} within ${at} ms`),
      )
    failed('read', '/projects/A', new Failure('internal', 'a bug'))
    t.same(
      lines.map(({ level, kind }) => [level, kind]),
      [
        [40, 'timeout'],
        [50, 'internal'],
      ],
    )
    pass(60_000)
    t.match(lines.at(-1), { more: 9_998, path: '/projects/A/9999' })
  },
)
