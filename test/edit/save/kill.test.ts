// kill -9 at steps of a save, each third a day, drawn, and every one at night: afterwards the text is there, and the service has the edit at most once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { openTextHistory } from '../../../src/edit/journal/text-history.js'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { createSaver } from '../../../src/edit/save/save.js'
import { equalJson } from '../../../src/record/json/equal.js'
import { stringJson, withField } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { instant } from '../../../src/remote/remote.js'
import { isDrawn } from '../../testbed/variants.js'
import { context, scratch } from '../edit-testbed.js'
import { reportId } from '../fake-service.js'
import { type HttpService, overHttp, startHttpService } from '../http-service.js'

const report = '{"id":42,"title":"Water","note":"","calculations":[12,7],"big":9007199254740993}'
const edited = report.replace('Water', 'Ice').replace('[12,7]', '[7,12,31]')
const child = fileURLToPath(new URL('./save-child.js', import.meta.url))
const now = () => instant(Date.now())

/** True if the daemon was killed, false if it ended well. */
async function saveAndKill(directory: string, service: HttpService, killAt: number): Promise<boolean> {
  const texts = openTextHistory({ stateDirectory: directory, mount: '/mnt', now })
  await texts.remember({ kind: 'report', id: '42' }, prettyPrint(service.record), 'read')
  const daemon = fork(child, [directory, service.address, String(killAt), prettyPrint(parseObject(edited))])
  const [code, signal] = await once(daemon, 'exit')
  if (signal === null && code !== 0) throw new Error(`the daemon ended with ${code}`)
  return signal === 'SIGKILL'
}

/** What the next mount does: looks what became of it, and saves again when its user does. */
async function goOn(directory: string, service: HttpService) {
  const texts = openTextHistory({ stateDirectory: directory, mount: '/mnt', now })
  const { found, damaged } = await openDrafts(directory, now)
  const [draft] = found
  const text = await draft?.text()
  const sentBefore = service.carriedOut.length
  if (draft !== undefined) {
    const record = editableReport(overHttp(service.address), reportId)
    const saver = createSaver(texts, now)
    await saver.settle({ record, draft }, context)
    if (service.carriedOut.length !== sentBefore) throw new Error('looking must send nothing')
    await draft.truncate(0)
    await draft.write(Buffer.from(prettyPrint(parseObject(edited))), 0)
    await saver.save({ record, draft }, context)
    await draft.close()
  }
  return { drafts: found.length, damaged: damaged.length, text }
}

// The root has a limit of its own, below that of the tests.
t.setTimeout(560_000)

t.test('kill -9 at steps of a save', { timeout: 240_000 }, async t => {
  let kills = 0
  for (let killAt = 1; ; killAt++) {
    if (!isDrawn(killAt, 3)) continue
    const directory = await scratch(t)
    const service = await startHttpService(report)
    try {
      if (!(await saveAndKill(directory, service, killAt))) break
      kills++
      const stored = equalJson(service.record, parseObject(edited))
      service.record = withField(service.record, 'note', stringJson('by another client'))
      const { drafts, damaged, text } = await goOn(directory, service)
      t.equal(damaged, 0)
      if (killAt > 1 && !stored) t.equal(drafts, 1, `step ${killAt}: a draft was at risk`)
      if (killAt > 4)
        t.ok(drafts === 0 || text === prettyPrint(parseObject(edited)), `step ${killAt}: the text is there`)
      if (killAt > 1) {
        const wanted = withField(parseObject(edited), 'note', stringJson('by another client'))
        t.ok(equalJson(service.record, wanted), `step ${killAt}: both edits are there`)
      }
      t.same(
        [...new Set(service.carriedOut)],
        service.carriedOut,
        `step ${killAt}: no request was sent twice`,
      )
    } finally {
      await service.close()
    }
  }
  t.ok(kills > 6, `${kills} kills`)
})
