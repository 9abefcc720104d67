// What the drive shows and saves belongs to the thing that was asked for, whatever stands in front of the service.
import type { Test } from 'tap'
import type { InProcessTestbed } from '../../testbed/in-process.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import type { TestService } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

/** A cache that ignores the query: questions that match are answered as this other one. Undoes it when called. */
export const answeredAs = (service: TestService, which: RegExp, other: string): (() => void) =>
  service.answer(which, () => service.elsewhere('GET', other))

/** A kernel asks no attribute of a file that cannot be looked up; the command line does. */
const why = async (testbed: Testbed, path: string): Promise<string> =>
  isMount(testbed)
    ? (await testbed.calcfs('why', `${testbed.directory}/${path}`)).stdout
    : ((testbed as InProcessTestbed).lastFailure() ?? '')

const isMount = (testbed: Testbed): testbed is KernelTestbed => testbed.name === 'mount'

export function identity(t: Test, open: OpenTestbed): void {
  const records = [
    { what: 'project', own: ids.water, other: ids.empty, path: 'projects/Water splitting/.project.json' },
    {
      what: 'calculation',
      own: ids.transition,
      other: ids.product,
      path: 'projects/Water splitting/TS1_opt/.calculation.json',
    },
    { what: 'report', own: ids.report, other: ids.profile, path: `reports/${ids.report}.json` },
  ] as const

  for (const { what, own, other, path } of records) {
    const record = new RegExp(`^GET /${what}\\?id=${own}$`)

    t.test(`ID-1 a ${what} that answers with another id is EIO and shown nowhere`, async t => {
      const testbed = await open(t)
      const undo = answeredAs(testbed.service, record, `/${what}?id=${other}`)
      t.equal(await outcome(textOf(testbed, path)), 'EIO')
      t.equal(await outcome(overwrite(testbed, path, `{"id": ${other}, "description": "Mine"}`)), 'EIO')
      if (what !== 'report')
        t.match(await why(testbed, path), new RegExp(`${own}.*${other}`), 'both ids are named')
      undo()
      await testbed.pass(12_000)
      t.equal(JSON.parse(await textOf(testbed, path)).id, Number(own))
    })

    t.test(
      `ID-1 a ${what} that answers with another id is no base of a save, and no proof that it is stored`,
      async t => {
        const testbed = await open(t)
        const { service } = testbed
        const answeredWrong = () => answeredAs(service, record, `/${what}?id=${other}`)
        const text = await textOf(testbed, path)
        const edited = text.replace(/"description": "[^"]*"/, '"description": "Mine"')
        const before = await service.elsewhere('GET', `/${what}?id=${other}`)
        const undo = answeredWrong()
        await service.sends(t, [], 'nothing is sent', async () => {
          t.equal(await outcome(overwrite(testbed, path, edited)), 'EIO')
        })
        undo()
        t.equal(await service.elsewhere('GET', `/${what}?id=${other}`), before)
        const put = service.beforeAnswer(new RegExp(`^PUT /${what}$`), answeredWrong)
        t.equal(await outcome(overwrite(testbed, path, edited)), 'EIO')
        put()
        t.not((await namesOf(testbed, '.calcfs/drafts')).length, 0, 'the text is kept')
        await service.sends(t, [], 'what is stored is not sent again', () => overwrite(testbed, path, edited))
        t.match(JSON.parse(await service.elsewhere('GET', `/${what}?id=${own}`)), { description: 'Mine' })
      },
    )
  }

  t.test(
    'LIST-13 what the service lists under a name that programs try everywhere can be entered',
    async t => {
      const testbed = await open(t, {
        fill(seed) {
          for (const [at, name] of ['.git', '.hidden', '.Trash-1000', 'HEAD', 'CVS'].entries()) {
            const project = seed.addProject({ id: String(200 + at), name, owner: 'demo' })
            seed.addProject({ id: String(300 + at), name, owner: 'demo', parent: project })
            seed.addCalculation({
              id: String(1 + at),
              name: `.DS_Store`,
              project,
              files: { '.hidden': name },
            })
          }
        },
      })
      for (const name of (await namesOf(testbed, 'projects')).filter(one => !/json|tsv|shares/.test(one))) {
        t.ok((await namesOf(testbed, `projects/${name}`)).includes(name), name)
        t.same(await namesOf(testbed, `projects/${name}/.DS_Store`), ['.calculation.json', '.hidden'])
        t.equal(await textOf(testbed, `projects/${name}/.DS_Store/.hidden`), name)
        t.ok((await namesOf(testbed, `projects/${name}/${name}`)).includes('.project.json'))
      }
    },
  )
}
