// The kernel is told of what changed: it keeps names for long, and shows nothing that is over.
import { EventEmitter, once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Seed } from '../../src/service/seed.js'
import { isMounted, type KernelTestbed, realMount } from '../testbed/mount.js'
import { printed, python, run, shell } from '../testbed/programs.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

t.setTimeout(240_000)

const folder = 'projects/Water splitting'

/** What the kernel asked while this was done, as `verb path`. */
async function askedDuring(testbed: KernelTestbed, work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await testbed.log()).length
  await work()
  const lines = (await testbed.log()).slice(before).trim().split('\n')
  const calls = lines.map(line => JSON.parse(line) as { msg?: string; verb?: string; path?: string })
  return calls.filter(({ msg }) => msg === 'call').map(({ verb, path }) => `${verb} ${path}`)
}

const retitle = async ({ service }: KernelTestbed, id: string, name: string): Promise<void> => {
  const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${id}`))
  await service.elsewhere('PUT', '/calculation', JSON.stringify({ ...record, name }))
}

/** As many calculations as one directory is told of as a whole. */
function fillMany(seed: Seed): void {
  fillSampleData(seed)
  for (let at = 0; at < 700; at += 1)
    seed.addCalculation({
      id: String(5_000 + at),
      name: `c${at}`,
      project: ids.empty,
      files: { 'a.txt': `${at}\n` },
    })
}

t.test('what the kernel was told', async t => {
  const testbed = await warmMount(t, {
    fill: fillMany,
    settings: { logLevel: 'debug', ttlListing: '1h' },
  })
  const { files, service, directory } = testbed

  t.test('TOLD-1 a second walk asks for no file, within the lifetime of its listing', async t => {
    await shell(`ls -lR '${folder}/TS1_opt' '${folder}/H2O'`, directory)
    const asked = await askedDuring(testbed, () =>
      shell(`ls -lR '${folder}/TS1_opt' '${folder}/H2O'`, directory),
    )
    t.ok(
      asked.some(call => call.startsWith('readdir')),
      'a listing always asks',
    )
    t.strictSame(
      asked.filter(call => /^getattr .*\.(inp|cml|log|txt|xyz)$/.test(call)),
      [],
    )
  })

  t.test(
    'TOLD-2 a renamed and a new calculation are there at once after a refresh, the old name is not',
    async t => {
      t.equal(await outcome(files.lstat(`${folder}/H2O/output.cml`)), 'done')
      await retitle(testbed, ids.product, 'Water')
      service.seed.addCalculation({ name: 'Ice', project: ids.water, files: { 'a.txt': 'ice\n' } })
      t.equal(await outcome(files.lstat(`${folder}/H2O/output.cml`)), 'done', 'the listing counts until then')
      t.equal(await outcome(files.lstat(`${folder}/Ice`)), 'ENOENT')
      t.match(await testbed.calcfs('refresh', join(directory, folder)), { code: 0 })
      await until(1_000, 'both names', async () => (await outcome(files.lstat(`${folder}/Ice`))) === 'done')
      t.equal(await outcome(files.lstat(`${folder}/H2O`)), 'ENOENT')
      t.equal(await outcome(files.lstat(`${folder}/Water/output.cml`)), 'done')
      t.equal(await textOf(testbed, `${folder}/Ice/a.txt`), 'ice\n')
    },
  )

  t.test('TOLD-4 a file keeps its inode number, whatever the kernel is told', async t => {
    const file = join(directory, folder, 'TS1_opt', 'run.log')
    const before = await stat(file)
    await testbed.calcfs('refresh', join(directory, folder))
    t.match(await stat(file), { ino: before.ino, mtimeMs: before.mtimeMs })
  })

  t.test('TOLD-2 nor is what was gone before its answer came, once its directory was touched', async t => {
    const id = service.seed.addCalculation({
      name: 'Fog',
      project: ids.water,
      files: { 'fog.txt': 'fog', 'mist.txt': 'mist' },
    })
    await testbed.calcfs('refresh', join(directory, folder))
    await files.readdir(`${folder}/Fog`)
    const signs = new EventEmitter()
    const [released, asked] = [once(signs, 'released'), once(signs, 'asked')]
    const size = service.intercept(/^(HEAD|GET) .*bitstream.*fog\.txt/, async (_, { carryOut }) => {
      const passOn = await carryOut()
      signs.emit('asked')
      await released
      passOn()
    })
    const waiting = outcome(files.lstat(`${folder}/Fog/fog.txt`))
    await asked
    const list = service.intercept(new RegExp(`^GET /calculation/files\\?id=${id}`), response => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('["mist.txt"]')
    })
    await files.touch(`${folder}/Fog`)
    t.strictSame(
      (await namesOf(testbed, `${folder}/Fog`)).filter(name => name.endsWith('.txt')),
      ['mist.txt'],
    )
    signs.emit('released')
    await waiting
    t.equal(await outcome(files.lstat(`${folder}/Fog/fog.txt`)), 'ENOENT')
    size()
    list()
  })

  t.test('TOLD-3 calcfs refresh ends when the kernel knows', async t => {
    for (const name of ['Steam', 'Water']) {
      await files.lstat(`${folder}/${name === 'Steam' ? 'Water' : 'Steam'}`)
      await retitle(testbed, ids.product, name)
      t.match(await testbed.calcfs('refresh', `${directory}/${folder}`), { code: 0 })
      t.equal(await outcome(files.lstat(`${folder}/${name}/output.cml`)), 'done')
      t.equal(await outcome(files.lstat(`${folder}/${name === 'Steam' ? 'Water' : 'Steam'}`)), 'ENOENT')
    }
  })

  t.test(
    'TOLD-4 a directory of many names is told as one, under the feet of a program that works in it',
    async t => {
      const program = `
import os, sys
os.chdir(sys.argv[1])
assert len(os.listdir()) > 700
for name in os.listdir(): os.stat(name)
print(os.getcwd(), flush=True)
sys.stdin.readline()
os.chdir('c1')
print(os.getcwd(), flush=True)
sys.stdin.readline()
print(os.getcwd(), open('a.txt').read().strip(), flush=True)`
      const place = `${directory}/${folder}/Sub project`
      const { spawn } = await import('node:child_process')
      const child = spawn(python, ['-c', program, place], { stdio: ['pipe', 'pipe', 'inherit'] })
      t.teardown(() => child.kill())
      let printed = ''
      child.stdout.on('data', piece => {
        printed += piece
      })
      const linesPrinted = (count: number) => () => Promise.resolve(printed.split('\n').length > count)
      await until(30_000, 'the program is there', linesPrinted(1))
      await retitle(testbed, '5000', 'other')
      t.match(await testbed.calcfs('refresh', place), { code: 0 })
      t.equal(await outcome(files.lstat(`${folder}/Sub project/c0`)), 'ENOENT')
      t.equal(await outcome(files.lstat(`${folder}/Sub project/other`)), 'done')
      child.stdin.write('\n')
      await until(10_000, 'it has gone on', linesPrinted(2))
      await testbed.calcfs('refresh', place)
      child.stdin.write('\n')
      await until(10_000, 'it has ended', linesPrinted(3))
      t.equal(printed, `${place}\n${place}/c1\n${place}/c1 1\n`, 'getcwd and relative paths hold')
    },
  )

  t.test(
    'TOLD-5 a name that its daemon has learned to be another thing is that at the end of the lifetime',
    async t => {
      t.equal(await outcome(files.lstat(`${folder}/No geometry/job.mop`)), 'done')
      await retitle(testbed, ids.bare, 'Geometry')
      await testbed.pass(3_700_000)
      t.ok((await namesOf(testbed, folder)).includes('Geometry'))
      t.equal(await outcome(files.lstat(`${folder}/No geometry`)), 'ENOENT')
      t.equal(await outcome(files.lstat(`${folder}/Geometry/job.mop`)), 'done')
    },
  )
})

t.test('TOLD-1 a text that is not saved is what every name of its record shows within a second', async t => {
  const testbed = await realMount(t)
  const { files, directory } = testbed
  const [one, other] = [
    `${folder}/H2O/.calculation.json`,
    `by-id/calculation/${ids.product}/.calculation.json`,
  ]
  const about = async (path: string) => (await shell(`stat -c '%a %s' '${path}'`, directory)).stdout
  const before = await textOf(testbed, one)
  const wrong = before.replace(/"id": \d/, digits => `"id": ${digits.endsWith('9') ? 8 : 9}`)
  t.equal(wrong.length, before.length)
  t.equal(await textOf(testbed, other), before)
  const known = await about(other)
  t.equal(await outcome(overwrite(testbed, one, wrong)), 'EINVAL')
  await testbed.pass(1_200)
  t.equal(await about(other), await about(one))
  t.match(await about(other), /^600 /)
  t.equal(await textOf(testbed, other), wrong)
  const draft = `.calcfs/drafts/calculation-${ids.product}.json`
  t.equal(await outcome(files.lstat(draft)), 'done')
  t.equal(
    await outcome(overwrite(testbed, other, before.replace('"description": "', '"description": "x'))),
    'done',
  )
  await testbed.pass(1_200)
  t.not(await about(one), known)
  t.equal(await about(one), await about(other))
  t.match(await about(one), /^644 /)
  t.equal(await outcome(files.lstat(draft)), 'ENOENT')
})

t.test('TOLD-1 what was not saved under a new name is no draft a second after it is', async t => {
  const testbed = await realMount(t)
  const { files } = testbed
  const [fresh, draft] = ['reports/new.json', '.calcfs/drafts/new.json']
  t.equal(await outcome(overwrite(testbed, fresh, '{"name":"X"}')), 'EINVAL')
  const list = await files.lstat('reports/INDEX.tsv')
  for (const name of [draft, `${draft}.why`]) t.equal(await outcome(files.lstat(name)), 'done')
  t.equal(await outcome(overwrite(testbed, fresh, '{"name":"X","reportType":1}')), 'done')
  await testbed.pass(2_200)
  for (const name of [draft, `${draft}.why`]) t.equal(await outcome(files.lstat(name)), 'ENOENT')
  t.not((await files.lstat('reports/INDEX.tsv')).size, list.size)
})

t.test('TOLD-10 an answer that came back unchanged is no news: the pages of a file are kept', async t => {
  const testbed = await warmMount(t, {
    fill: fillSampleData,
    settings: { logLevel: 'debug', ttlRecord: '6s', ttlListing: '6s', access: 'read' },
  })
  const { directory, service } = testbed
  const files = 'TS1_opt/.calculation.json .project.json && ls -l .shares TS1_opt && cat TS1_opt/run.log'
  const walk = (): Promise<string> =>
    printed('bash', ['-c', `cd '${folder}' && cat ${files}`], { cwd: directory })
  const first = await walk()
  // Three quarters of their lifetime: what is used is asked for again in the background.
  await wait(4_700)
  const requests = await service.during(async () => {
    t.equal(await walk(), first)
    await wait(300)
  })
  for (const path of ['/calculation?', '/project?', '/project/share?'])
    t.ok(
      requests.some(request => request.path.startsWith(path)),
      `${path} was asked for again`,
    )
  const asked = await askedDuring(testbed, async () => t.equal(await walk(), first))
  t.strictSame(
    asked.filter(call => call.startsWith('read ')),
    [],
  )
})

t.test('TOLD-6 calls of extended attributes end at the kernel, unless they are asked for', async t => {
  const testbed = await realMount(t, { xattrs: 'off', settings: { logLevel: 'debug' } })
  const found = await run('getfattr', ['-d', '-m', '-', `${testbed.directory}/reports`])
  t.match(found.stderr, /Operation not supported|^$/)
  const asked = await askedDuring(testbed, () =>
    shell('ls -l reports; cp -a reports /dev/shm/x; rm -r /dev/shm/x', testbed.directory),
  )
  t.strictSame(
    asked.filter(call => call.includes('xattr')),
    [],
  )
})

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
      t.ok(status.kernelTold > (access === 'read' ? seconds : seconds / 4), `told: ${status.kernelTold}`)
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

t.test('TOLD-9 a directory is told of while a call in it waits for its whole deadline', async t => {
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
