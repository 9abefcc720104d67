// Storms: many programs and changes elsewhere at once; nothing hangs, nothing read is wrong, and a killed daemon leaves no program waiting.
import t from 'tap'
import type { Seed } from '../../src/service/seed.js'
import { isMounted, type KernelTestbed, realMount } from '../testbed/mount.js'
import { printed, python, run } from '../testbed/programs.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { namesOf, outcome, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

t.setTimeout(240_000)

const folder = 'projects/Water splitting'

const retitle = async ({ service }: KernelTestbed, id: string, name: string): Promise<void> => {
  const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${id}`))
  await service.elsewhere('PUT', '/calculation', JSON.stringify({ ...record, name }))
}

/** Programs that read, list, write, rename and touch the same few things for so many seconds; prints what was wrong. */
const storm = `
import json, os, random, sys, threading, time
root, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
end = time.time() + seconds
project = os.path.join(root, 'projects', 'Water splitting')
wrong, counts = [], {}
def during(name, work):
    draw = random.Random(seed * 100 + len(counts)); counts[name] = 0
    def loop():
        while time.time() < end:
            try: work(draw)
            except OSError as error:
                # A name may go between two calls, and a drive may take no edits; nothing else may happen.
                if error.errno not in (2, 116, 30): wrong.append(f'{name}: {error}')
            counts[name] += 1
    return threading.Thread(target=loop)
def read(draw):
    at = draw.randrange(8)
    with open(f'{project}/s{at}/a.txt') as file: text = file.read()
    if text != f'{at} ' * 500: wrong.append(f'read of s{at}: {text[:20]!r} {len(text)}')
def listing(draw):
    names = os.listdir(project)
    for at in range(8):
        if f's{at}' not in names: wrong.append(f's{at} is not listed')
    for name in names: os.lstat(os.path.join(project, name))
def write(draw):
    path = f'{root}/reports/42.json'
    with open(path) as file: record = json.load(file)
    record['title'] = 'T' * draw.randrange(1, 60)
    with open(path, 'w') as file: json.dump(record, file)
    with open(path) as file: again = json.load(file)
    if again['title'] != record['title']: wrong.append(f"saved {record['title']}, read {again['title']}")
def rename(draw):
    a, b = os.path.join(project, 'swing'), os.path.join(project, 'swung')
    os.rename(a, b); os.lstat(b + '/a.txt'); os.rename(b, a); os.lstat(a + '/a.txt')
def touch(draw):
    for path in draw.sample([project, f'{project}/s1', f'{project}/s2', f'{root}/reports', f'{root}/projects'], 3): os.utime(path)
work = dict(read=read, read2=read, listing=listing, write=write, rename=rename, touch=touch, touch2=touch)
threads = [during(name, one) for name, one in work.items()]
for thread in threads: thread.start()
for thread in threads: thread.join(seconds + 60)
if any(thread.is_alive() for thread in threads): wrong.append('a program hangs')
print(json.dumps({'wrong': wrong[:20], 'counts': counts}), flush=True)
os._exit(0)`

function fillStorm(seed: Seed): void {
  fillSampleData(seed)
  for (let at = 0; at < 8; at += 1)
    seed.addCalculation({ name: `s${at}`, project: ids.water, files: { 'a.txt': `${at} `.repeat(500) } })
  seed.addCalculation({ id: '7000', name: 'swing', project: ids.water, files: { 'a.txt': 'swing' } })
}

for (const access of ['read', 'edit'])
  t.test(
    `TOLD-7 a storm of programs and of changes elsewhere, --access ${access}: nothing hangs, nothing is wrong`,
    async t => {
      const seconds = Number(process.env['CALCFS_STORM_SECONDS'] ?? 2)
      const seed = Number(process.env['CALCFS_TEST_SEED'] ?? Date.now() % 100_000)
      t.comment(`CALCFS_TEST_SEED=${seed} repeats it`)
      const testbed = await realMount(t, {
        fill: fillStorm,
        service: { latency: 2 },
        settings: { access, ttlListing: '8s', ttlRecord: '4s' },
      })
      const { service, directory } = testbed
      const running = printed(python, ['-c', storm, directory, String(seconds), String(seed)], {
        limit: (seconds + 90) * 1_000,
      })
      const ending = Date.now() + seconds * 1_000
      for (let at = 0; Date.now() < ending; at += 1) {
        await retitle(testbed, ids.bare, `elsewhere ${at % 3}`)
        if (access === 'read') await testbed.calcfs('refresh', `${directory}/${folder}`)
        await new Promise(wake => setTimeout(wake, 50))
      }
      const { wrong, counts } = JSON.parse(await running)
      t.strictSame(wrong, [])
      for (const [name, count] of Object.entries(counts))
        t.ok(Number(count) > 0, `${name} did something: ${count}`)
      const status = JSON.parse(await textOf(testbed, '.calcfs/status.json'))
      t.equal(status.kernel, 'session')
      t.ok(status.kernelTold > 0, `told: ${status.kernelTold}`)
      await testbed.calcfs('refresh', `${directory}/${folder}`)
      const listed = JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.bare}`)).name
      t.ok(
        (await namesOf(testbed, folder)).includes(listed),
        'what stands there at the end is what the service has',
      )
    },
  )

t.test('TOLD-8 a daemon that is killed in such a storm leaves no program waiting', async t => {
  const testbed = await realMount(t, {
    fill: fillStorm,
    settings: { ttlListing: '8s', ttlRecord: '4s' },
  })
  const running = run(python, ['-c', storm, testbed.directory, '3', '1'], { limit: 30_000 })
  await new Promise(wake => setTimeout(wake, 1_500))
  await testbed.kill9()
  t.match(await running, { code: 0 }, 'each call ends')
  t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
  t.notOk(await isMounted(testbed.directory))
  await testbed.mount()
  t.ok((await namesOf(testbed, folder)).includes('s1'))
})

t.test('TOLD-7 a directory is told of while a call in it waits for its whole deadline', async t => {
  const testbed = await realMount(t, {
    settings: { ttlListing: '8s', ttlRecord: '4s', deadlineMetadata: '3s' },
  })
  const { files, service, directory } = testbed
  await files.readdir(folder)
  const mend = service.intercept(/calculation\/xyz|files\?id=1236|GET .*1236/, () => {})
  const waiting = outcome(files.lstat(`${folder}/No geometry/job.mop`))
  for (let at = 0; at < 5; at += 1) {
    await testbed.calcfs('refresh', `${directory}/${folder}`)
  }
  t.equal(await outcome(files.lstat(`${folder}/TS1_opt/input.inp`)), 'done')
  t.match(await waiting, /ETIMEDOUT|done/)
  mend()
  await until(
    10_000,
    'all is as before',
    async () => (await outcome(files.lstat(`${folder}/No geometry/job.mop`))) === 'done',
  )
})
