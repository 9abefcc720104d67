// Promises of `calcfs delete`: what goes is shown, nothing but yes deletes it, and what is another than was shown stays.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { calcfs as program } from '../../testbed/daemon.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { type Ran, run } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

const water = 'projects/Water splitting'
const spare = ['61', '62', '63', '64', '65']
const answering = (testbed: KernelTestbed, answer: string, ...paths: string[]): Promise<Ran> =>
  run(process.execPath, [program, 'delete', ...paths], { cwd: testbed.directory, input: answer })

t.jobs = 3

t.test(
  'THING-3 a path whose record has another name by now deletes nothing, then what it leads to',
  async t => {
    const testbed = await warmMount(t, {
      settings: { access: 'manage' },
      fill(seed) {
        const project = seed.addProject({ id: '300', name: 'draft', owner: 'demo' })
        for (const [id, name] of [
          ['3000', 'opt'],
          ['3002', 'freq'],
        ] as const)
          seed.addCalculation({ id, name, project, files: { a: id } })
      },
    })
    const { service, directory } = testbed
    await textOf(testbed, 'projects/draft/opt/a')
    await service.edit('calculation', '3000', { name: 'opt (submitted)' })
    await service.edit('calculation', '3002', { name: 'opt' })
    const path = `${directory}/projects/draft/opt`
    t.match(await testbed.calcfs('delete', '--yes', path), {
      code: 1,
      stderr: /is called "opt \(submitted\)" now/,
    })
    t.same(
      writes(service.heard).filter(line => line.startsWith('DELETE')),
      [],
    )
    t.match(await testbed.calcfs('delete', '--yes', path), { code: 0 })
    t.same(
      writes(service.heard).filter(line => line.startsWith('DELETE')),
      ['DELETE /calculation?id=3002'],
    )
  },
)

t.test('calcfs delete', async t => {
  const testbed = await warmMount(t, {
    settings: { access: 'manage' },
    adds(seed) {
      for (const id of spare)
        seed.addCalculation({ id, name: `Spare ${id}`, project: ids.water, files: { a: '1', b: '2' } })
    },
  })
  const { files, service } = testbed

  await t.test('DEL-21 shows what goes, and without a yes deletes nothing', async t => {
    await textOf(testbed, `reports/${ids.report}.json`)
    await service.sends(t, [], async () => {
      for (const [answer, expected] of [
        ['', 2],
        ['n\n', 1],
        ['y\n', 1],
      ] as const) {
        const { code, stdout } = await answering(testbed, answer, `${water}/TS1_opt`)
        t.equal(
          code,
          expected,
          'answered with no it has failed; where there is no terminal, --yes is missing',
        )
        t.match(stdout, new RegExp(`calculation ${ids.transition} TS1_opt .*4 files.*report.* ${ids.report}`))
      }
    })
  })

  await t.test('DEL-21 deletes as many as are named, at once', async t => {
    await writeFile(join(testbed.directory, 'reports/new-x.json'), '{"name": "x", "reportType": 2}')
    const made = 'reports/new-x.json'
    const paths = [
      ...spare.map(id => `${water}/Spare ${id}`),
      `${water}/Spare 61/`,
      `${water}/Sub project`,
      made,
    ]
    t.equal((await namesOf(testbed, water)).filter(name => name.startsWith('Spare')).length, spare.length)
    let ran: Ran | undefined
    const asked = await service.during(async () => {
      ran = await answering(testbed, 'yes\n', ...paths)
    })
    t.match(ran, { code: 0, stdout: /deleted calculation 65 Spare 65/ })
    const [report] = /(?<=deleted report )\d+/.exec(ran?.stdout ?? '') ?? []
    t.same(
      writes(asked).sort(),
      [
        ...spare.map(id => `DELETE /calculation?id=${id}`),
        `DELETE /project?id=${ids.empty}`,
        `DELETE /report?id=${report}`,
      ].sort(),
    )
    const left = (await namesOf(testbed, water)).filter(name => /^(Spare|Sub project)/.test(name))
    t.same(left, [], 'nothing that is gone is listed, at once')
    // The kernel keeps a name for a second.
    await testbed.pass(1_200)
    t.equal(await outcome(files.lstat(`${water}/Spare 61`)), 'ENOENT')
  })

  await t.test(
    'DEL-21 deletes no project with anything in it, no file, and nothing through a link',
    async t => {
      await service.sends(t, [], async () => {
        await files.readdir(`reports/${ids.report}`)
        for (const path of [
          water,
          `${water}/H2O/output.cml`,
          `reports/${ids.report}/01-Transition state~${ids.transition}`,
        ]) {
          const { code, stderr } = await answering(testbed, 'yes\n', path)
          t.not(code, 0, path)
          t.match(stderr, /calcfs: nothing was deleted: /)
        }
      })
    },
  )

  await t.test('DEL-21 what is another than was shown stays', async t => {
    const path = `${water}/TS1_opt`
    let looks = 0
    // Between the question and the answer another client renames it.
    const mend = service.intercept(/^GET \/calculation\?/, async (_, { carryOut }) => {
      looks += 1
      if (looks === 2) await service.edit('calculation', ids.transition, { name: 'TS1_needed' })
      const passOn = await carryOut()
      passOn()
    })
    await files.lstat(path)
    looks = 0
    const asked = await service.during(async () => {
      const { code, stderr } = await answering(testbed, 'yes\n', path)
      t.equal(code, 1)
      t.match(stderr, /another than was shown/)
    })
    mend()
    t.same(writes(asked), [])
  })
})

t.test('DEL-21 with --access edit nothing is deleted', async t => {
  const testbed = await warmMount(t)
  await testbed.service.sends(t, [], async () => {
    const { code, stderr } = await answering(testbed, 'yes\n', `${water}/TS1_opt`)
    t.equal(code, 1)
    t.match(stderr, /--access manage/)
  })
})

t.test(
  'DEL-21 where neither the DELETE nor the look after it is answered, the outcome is unknown',
  async t => {
    const testbed = await warmMount(t, { settings: { access: 'manage', deadlineSave: '2s' } })
    let sent = 0
    testbed.service.intercept(/./, async (response, { heard, carryOut }) => {
      if (heard.method === 'DELETE') sent += 1
      if (sent > 0) return void response.destroy()
      const passOn = await carryOut()
      passOn()
    })
    const ran = await testbed.calcfs('delete', '--yes', `${testbed.directory}/reports/${ids.profile}.json`)
    t.equal(sent, 1)
    t.match(ran, { code: 1, stderr: /whether .*reports.* was deleted is unknown: .*look/ })
    t.notMatch(ran.stderr, /not deleted/)
  },
)

t.test('CLI-11 a service that is named by a profile or an address is meant, whatever is mounted', async t => {
  const testbed = await warmMount(t, { settings: { access: 'manage' } })
  const { service, directory, home } = testbed
  const report = `reports/${ids.report}.json`
  await textOf(testbed, report)
  await mkdir(join(home, 'config/calcfs'), { recursive: true })
  const other = 'http://127.0.0.1:1'
  await writeFile(
    join(home, 'config/calcfs/config.toml'),
    `[profiles.other]\nurl = "${other}"\n[profiles.same]\nurl = "${service.url}"\nuser = "demo"\n`,
  )
  await service.sends(t, [], async () => {
    for (const named of [
      ['--profile', 'other'],
      ['--user', 'guest', '--profile', 'same'],
    ]) {
      for (const line of [
        ['delete', '--yes', report],
        ['delete', '--yes', `${directory}/${report}`],
        ['refresh', report],
      ])
        t.not((await testbed.calcfs(...named, ...line)).code, 0, `${named.join(' ')} ${line.join(' ')}`)
    }
    for (const named of [
      ['--profile', 'other'],
      ['--url', other],
    ])
      t.notMatch(await testbed.calcfs('cat', ...named, report), { stdout: /title/ }, 'none of this drive')
    await testbed.pass(3_000)
  })
  t.match(await testbed.calcfs('--profile', 'same', 'cat', report), { code: 0, stdout: /title/ })
  t.match(await testbed.calcfs('--profile', 'same', 'delete', '--yes', report), { code: 0 })
})
