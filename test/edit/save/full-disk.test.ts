// A full disk: nothing is sent that could not be noted before, and the text stays.
import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { explain } from '../../../src/edit/journal/explain.js'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { failureOf, openRoom, scratch } from '../edit-testbed.js'
import { fakeService, reportId } from '../fake-service.js'

const report = '{"id":42,"title":"Water","description":"","big":9007199254740993}'
const puts = (requests: readonly string[]) => requests.filter(request => request !== 'GET')

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('where the disk is full nothing is sent that could not be noted before', async t => {
    const run = promisify(execFile)
    const directory = await scratch(t)
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', directory])
    try {
      const service = fakeService(report)
      const record = editableReport(service.ports, reportId)
      const room = await openRoom(directory)
      const shown = prettyPrint(service.record)
      await room.texts.remember(record.key, shown, 'read')
      const draft = await room.begin(record, shown.replace('Water', 'Ice'))
      const filler = await open(join(directory, 'filler'), 'w')
      await t.rejects(filler.writeFile(Buffer.alloc(1_000_000)), { code: 'ENOSPC' })
      await filler.close()
      t.match(await failureOf(room.save(record, draft)), { kind: 'no-space' })
      t.same(puts(service.requests), [])
      t.equal(await draft.text(), shown.replace('Water', 'Ice'))
      t.match(explain(draft), /Make room/)
      await rm(join(directory, 'filler'))
      t.match(await room.save(record, draft), { outcome: 'stored' })
      await room.end()
    } finally {
      await run('umount', [directory])
    }
  })
}
