// Promises of instances with fewer features, and of what an instance reports of its traffic.
import t from 'tap'
import { all, openServiceTestbed, statuses } from './client.js'

t.setTimeout(60_000)

t.test('SERVE-1 an instance may answer only the nine paths of the public listing', async t => {
  const { anna, service } = await openServiceTestbed(t, {
    shortcomings: { onlyNinePaths: true, unquotedLists: true },
  })
  const project = service.seed.addProject({ name: 'p', owner: 'anna' })
  const id = service.seed.addCalculation({
    name: 'c',
    project,
    files: { 'b.in': '', 'a b,[1].txt': '', 'output.cml': '<a/>' },
  })
  const there = [
    `/project?id=${project}`,
    `/project/descendant?id=${project}`,
    '/report-type',
    `/calculation?id=${id}`,
    `/calculation/files?id=${id}`,
    `/calculation/files/bitstream?id=${id}&fileId=output.cml`,
  ]
  t.same(await statuses(anna, 'GET', there), all(200, there))
  t.equal((await anna('GET', `/calculation/files?id=${id}`)).text, '[b.in, a b,[1].txt, output.cml]')
  const missing = [
    '/user/info',
    '/navigation/path/resolve?path=/db/anna&type=project',
    `/project/share?id=${project}`,
    `/calculation/xyz?id=${id}`,
    '/report/types',
  ]
  t.same(await statuses(anna, 'GET', missing), all(404, missing))
})
