// The remote layer against the bundled service: every operation of the Remote interface, with and without optional features.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Failure } from '../../../src/failure.js'
import { fieldOf, stringJson, withField } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { systemClock } from '../../../src/remote/clock.js'
import { baseUrl } from '../../../src/remote/connection/address.js'
import { openHttp } from '../../../src/remote/http/http.js'
import {
  type Body,
  byteOffset,
  type CalculationId,
  type Content,
  type FileTitle,
  instant,
  type ProjectId,
  type ReportId,
  type RequestContext,
  type ServicePath,
} from '../../../src/remote/remote.js'
import { Gate } from '../../../src/remote/rest/gate.js'
import type { Capabilities } from '../../../src/remote/rest/lacking.js'
import { openRest } from '../../../src/remote/rest/rest.js'
import { openSession, withAuthorization } from '../../../src/remote/session/session.js'
import { openWire } from '../../../src/remote/wire/wire.js'
import { startService } from '../../../src/service/service.js'
import { complete, poor, type Shortcomings } from '../../../src/service/store/options.js'
import { failsAs } from '../fails.js'

const ask = (): RequestContext => ({ deadline: instant(Date.now() + 10_000), priority: 'user' })
const bigId = '9007199254740993'
const bytes = 'x'.repeat(300_000)

async function textOf(body: Body): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body.bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** A service with one project, two calculations and a report, and a remote signed in to it. */
async function openTestbed(t: Test, shortcomings: Shortcomings) {
  const data = mkdtempSync(join(tmpdir(), 'calcfs-remote-'))
  const service = await startService({ data, shortcomings })
  const { seed } = service
  seed.addUser({ name: 'anna', password: 'pass:wörd' })
  const project = seed.addProject({ name: 'Water splitting', owner: 'anna' }) as ProjectId
  const inner = seed.addProject({ name: 'a/b', owner: 'anna', parent: project })
  const files = { 'output.cml': bytes, 'a b&c.in': 'input', 'empty.log': '' }
  const calculation = seed.addCalculation({
    name: 'TS1_opt',
    project,
    id: bigId,
    files,
    generated: { xyz: '1\n\nH 0 0 0\n' },
  }) as CalculationId
  const other = seed.addCalculation({ name: 'bare', project, files: {} }) as CalculationId
  const calculations = [{ id: calculation, title: 'first' }, { id: other }]
  const report = seed.addReport({
    name: 'r',
    title: 'Paper',
    owner: 'anna',
    type: '2',
    calculations,
  }) as ReportId
  const capabilities: Capabilities = { sizes: {} }
  const left: string[] = []
  const credentials = async () => ({ with: 'password', user: 'anna', password: 'pass:wörd' }) as const
  const plain = openHttp({ base: baseUrl(service.url), connections: 4 })
  const who = openSession(plain, {
    credentials,
    clock: systemClock,
    address: service.url,
    note: failure => t.fail(String(failure)),
  })
  const language = openWire({}, item => left.push(item))
  const gate = new Gate(withAuthorization(plain, who), capabilities, systemClock)
  const remote = openRest(gate, language, { answered: plain.client.answered })
  t.teardown(async () => {
    await plain.client.close()
    await service.close()
    rmSync(data, { recursive: true })
  })
  return {
    remote,
    project,
    inner,
    calculation,
    other,
    report,
    learned: capabilities,
    left,
    dialect: language.dialect,
  }
}

for (const [instance, shortcomings] of Object.entries({ complete, poor })) {
  t.test(`every operation works on a ${instance} instance`, { timeout: 60_000 }, async t => {
    const {
      remote,
      project,
      inner,
      calculation,
      other,
      report,
      learned: capabilities,
      left,
      dialect,
    } = await openTestbed(t, shortcomings)
    const file = (title: string): Content => ({ of: 'file', calculation, title: title as FileTitle })

    t.ok((await remote.user(ask())).candidates.includes('anna'))
    t.equal(await remote.resolveProject('/db/anna/Water splitting' as ServicePath, ask()), project)
    t.equal(
      await remote.resolveCalculation('/db/anna/Water splitting/TS1_opt' as ServicePath, ask()),
      calculation,
    )
    await failsAs(t, 'absent', remote.resolveProject('/db/anna/nothing' as ServicePath, ask()))

    t.same(
      (await remote.subProjects(project, ask())).map(({ id, title }) => [id, title]),
      [[inner, 'a/b']],
    )
    const listed = await remote.calculations(project, ask())
    t.same(listed.map(({ id }) => id).sort(), [calculation, other].sort(), 'ids of 64 bits come whole')

    const titles = await remote.fileTitles(calculation, 'files', ask())
    t.same([...titles].sort(), ['a b&c.in', 'empty.log', 'output.cml'])
    t.same(await remote.fileTitles(calculation, 'cml', ask()), ['output.cml'])
    t.same(await remote.fileTitles(other, 'files', ask()), [], 'no files is no failure')
    await failsAs(t, 'absent', remote.fileTitles('77' as CalculationId, 'files', ask()))

    const size = await remote.contentSize(file('output.cml'), ask())
    t.equal(size?.bytes, instance === 'complete' ? bytes.length : undefined)
    const whole = await remote.content(file('output.cml'), byteOffset(0), ask())
    t.equal(whole.ends, 'proven')
    t.equal(await textOf(whole), bytes)
    for (const isKnown of [false, false, true]) {
      const part = await remote.content(file('output.cml'), byteOffset(299_990), ask())
      t.equal((await textOf(part)).length, part.start === 0 ? 300_000 : 10)
      t.equal(capabilities.ranges, instance === 'complete' ? true : isKnown ? false : undefined)
    }
    t.equal(await textOf(await remote.content(file('a b&c.in'), byteOffset(0), ask())), 'input')
    t.equal(await textOf(await remote.content(file('empty.log'), byteOffset(0), ask())), '')
    const xyz: Content = { of: 'xyz', calculation, title: 'TS1_opt.xyz' as FileTitle }
    t.match(await textOf(await remote.content(xyz, byteOffset(0), ask())), /^1\n/)
    await failsAs(t, 'absent', remote.content(file('no.such'), byteOffset(0), ask()))

    const record = await remote.report(report, ask())
    t.same(
      dialect.rows(record)?.map(row => row.calculation),
      [calculation, other],
    )
    t.equal(dialect.facts(record).title, 'Paper')
    await remote.updateReport(withField(record, 'title', stringJson('Söme-title')), ask())
    await remote.setReportCalculations(report, [other, calculation], ask())
    const after = await remote.report(report, ask())
    t.equal(dialect.facts(after).title, 'Söme-title')
    t.same(
      dialect.rows(after)?.map(row => row.calculation),
      [other, calculation],
    )
    await failsAs(t, 'absent', remote.report('4711' as ReportId, ask()))
    t.ok((await remote.reportTypes(ask())).some(type => type.title === 'Reaction energy profile'))
    t.equal(capabilities.reportTypes, instance === 'complete' ? undefined : 'report-type')

    const made = await remote.createProject(
      parseObject(JSON.stringify({ name: 'new', description: 'd', parentId: Number(project) })),
      ask(),
    )
    t.equal(dialect.facts(await remote.project(made, ask())).title, 'new')
    await remote.deleteProject(made, ask())
    await t.rejects(remote.project(made, ask()), Failure)
    const kept = await remote.calculation(calculation, ask())
    await remote.updateCalculation(withField(kept, 'name', stringJson('TS1')), ask())
    t.equal(fieldOf(await remote.calculation(calculation, ask()), 'name')?.type, 'string')
    t.same(await remote.shares(project, ask()), [])
    const fresh = await remote.createReport(parseObject('{"name":"n","title":"t","reportType":"1"}'), ask())
    await remote.deleteReport(fresh, ask())
    await remote.deleteCalculation(other, ask())
    t.same(left, [], 'no item was taken for malformed')
  })
}
