// A daemon that saves one text, and kills itself with SIGKILL at the named step.
import type { Draft } from '../../../src/edit/journal/draft.js'
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { openTextHistory } from '../../../src/edit/journal/text-history.js'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { createSaver } from '../../../src/edit/save/save.js'
import { instant } from '../../../src/remote/remote.js'
import { context } from '../edit-testbed.js'
import { reportId } from '../fake-service.js'
import { overHttp } from '../http-service.js'

const [directory = '', address = '', killAt = '0', text = ''] = process.argv.slice(2)
const now = () => instant(Date.now())

let steps = 0
function step(): void {
  steps++
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

/** The same port with a step before and after each of its promises. */
function stepped<Port extends object>(port: Port, names: readonly (keyof Port)[]): Port {
  const watched = Object.create(port)
  for (const name of names) {
    const method = port[name]
    if (typeof method !== 'function') throw new Error(`${String(name)} is no method`)
    Object.defineProperty(watched, name, {
      value: async (...parameters: unknown[]) => {
        step()
        const answer = await method.apply(port, parameters)
        step()
        return answer
      },
    })
  }
  return watched
}

const texts = stepped(openTextHistory({ stateDirectory: directory, mount: '/mnt', now }), [
  'remember',
  'candidates',
])
const ports = overHttp(address)
const remote = stepped(ports.remote, ['report', 'updateReport', 'setReportCalculations', 'calculation'])
const record = editableReport({ ...ports, remote }, reportId)
const created = await (await openDrafts(directory, now)).create(record.key)
const draft: Draft = stepped(created, ['write', 'text', 'change', 'sync'])
await draft.write(Buffer.from(text.slice(0, 20)), 0)
await draft.write(Buffer.from(text.slice(20)), 20)
await createSaver(texts, now).save({ record, draft }, context)
