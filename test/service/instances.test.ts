// Promises of instances with fewer features, and of what an instance reports of its traffic.
import t, { type Test } from 'tap'
import type { Access } from '../../src/service/store/options.js'
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

t.test('each answer is reported once: the request, its user, what came back and how much of it', async t => {
  const { told, next } = listener(t)
  const { anna } = await openServiceTestbed(t, { onAnswer: told, now: () => 1_700_000_000_000 })
  t.match(await next(), { method: 'POST', url: '/create/rest/login', status: 200, user: null })
  await anna('GET', '/user/info?x=%20')
  const access = await next()
  t.match(access, {
    time: '2023-11-14T22:13:20.000Z',
    method: 'GET',
    url: '/create/rest/user/info?x=%20',
    status: 200,
    user: 'anna',
  })
  t.ok(access.bytes > 100 && access.ms >= 0)
  await anna('GET', '/nothing')
  t.match(await next(), { status: 404, user: null })
})

/** Answers in the order they were reported, each waited for. */
function listener(t: Test) {
  const kept: Access[] = []
  let wake = () => {}
  t.teardown(() => wake())
  return {
    told: (access: Access) => {
      kept.push(access)
      wake()
    },
    next: async (): Promise<Access> => {
      for (;;) {
        const first = kept.shift()
        if (first !== undefined) return first
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
  }
}
