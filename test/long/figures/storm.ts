// Storm: readers, writers, renamers, refreshes, signals and a service that comes and goes, all at once on one mount.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Seed } from '../../../src/service/seed.js'
import { realMount } from '../../testbed/mount.js'
import { python, run as ran, shell } from '../../testbed/programs.js'
import { fillSampleData, ids, log } from '../../testbed/sample-data.js'
import { until as so, within } from '../../testbed/within.js'
import { chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

const settings = { access: 'manage', ttlListing: '300ms' }
const water = 'projects/Water splitting'
/** Milliseconds in which every program has ended once the storm is over: none waits in the kernel. */
const endLimit = 60_000

/** Each text tells its own length; an error is an outage's, another text never is. */
const reader = `import hashlib, json, mmap, os, sys, time
root, until, digest = sys.argv[1], float(sys.argv[2]), sys.argv[3]
report, content, work = root + '/reports/${ids.report}.json', root + '/${water}/TS1_opt/run.log', root + '/${water}'
reads = 0
try: os.chdir(work)
except OSError: pass
stood = os.getcwd()
def whole(text, how):
    length, rest = json.loads(text)['description'].split(':')
    if len(rest) != int(length): print('WRONG', how, length, len(rest), flush=True)
while time.time() < until:
    if os.getcwd() != stood: print('WRONG working directory', os.getcwd(), flush=True)
    try:
        with open(report, 'rb') as file:
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages: whole(pages[:], 'mmap')
            whole(file.read(), 'read')
        with open(content, 'rb') as file:
            if hashlib.sha256(file.read()).hexdigest() != digest: print('WRONG content', flush=True)
        if 'TS1_opt' not in os.listdir(work): print('WRONG listing', flush=True)
        reads += 1
    except OSError: time.sleep(0.01)
print('reads', reads, flush=True)
`
/** Directories that one refresher touches. */
const touched = 20
const edit = `s/"description": "[^"]*"/"description": "saved '$n'"/`
const loops = (root: string, local: string): Readonly<Record<string, string>> => ({
  walks: `ls -lR ${root}/projects; find ${root}/projects -newer /etc/passwd; cp -r '${root}/${water}' ${local}/walked`,
  saves: `n=$((n + 1)); sed -i '${edit}' ${root}/reports/${ids.profile}.json`,
  renames: `mv -T '${root}/${water}/A' '${root}/${water}/B'; mv -T '${root}/${water}/B' '${root}/${water}/A'`,
  refreshes: `for i in 1 2 3 4 5; do touch '${root}/${water}' ${root}/reports ${root}/projects '${root}/${water}/TS1_opt'; done`,
})

function fill(seed: Seed): void {
  fillSampleData(seed)
  seed.addProject({ id: '950', name: 'A', owner: 'demo', parent: ids.water })
}

async function run({ seed, until }: Frame): Promise<Result> {
  const pick = chance(seed)
  const wrong: string[] = []
  const counts = {
    reads: 0,
    changes: 0,
    refreshes: 0,
    saves: 0,
    renames: 0,
    walks: 0,
    outages: 0,
    signals: 0,
  }
  await scoped(async scope => {
    const testbed = await realMount(scope, { settings, fill })
    const { service, directory, local } = testbed
    const record = JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`))
    let description = ''
    const put = async (): Promise<void> => {
      const length = pick.whole(0, 2) * 4_000 + pick.whole(0, 300)
      description = `${length}:${'x'.repeat(length)}`
      await service.elsewhere('PUT', '/report', JSON.stringify({ ...record, description }))
      counts.changes += 1
    }
    await put()
    await writeFile(`${local}/reader.py`, reader)
    const isOver = (): boolean => Date.now() >= until || wrong.length > 10
    const digest = (await ran('sha256sum', [], { input: log })).stdout.slice(0, 64)
    const readers = [1, 2].map(async () => {
      const limit = until - Date.now() + endLimit
      const { stdout, stderr } = await ran(
        python,
        [`${local}/reader.py`, directory, `${until / 1000}`, digest],
        { limit },
      )
      wrong.push(...`${stdout}${stderr}`.split('\n').filter(line => line !== '' && !line.startsWith('reads')))
      counts.reads += Number(/reads (\d+)/.exec(stdout)?.[1] ?? 0)
    })
    const programs = Object.entries(loops(directory, local)).map(async ([name, line]) => {
      for (let round = 0; !isOver(); round += 1) {
        const child = spawn('bash', ['-c', `n=${round}; ${line}`], { stdio: 'ignore', detached: true })
        const exit = once(child, 'exit')
        // The whole group, as a terminal's Ctrl-C.
        const callOff = setTimeout(
          () => {
            if (name !== 'walks' || child.pid === undefined || child.exitCode !== null) return
            process.kill(-child.pid, pick.of(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGWINCH'] as const))
            counts.signals += 1
          },
          pick.whole(0, 400),
        )
        await within(endLimit, `${name}, round ${round}`, exit).catch((late: Error) =>
          wrong.push(late.message),
        )
        clearTimeout(callOff)
        counts[name as 'walks'] += name === 'refreshes' ? touched : 1
      }
    })
    const changing = (async () => {
      while (!isOver()) {
        await put()
        await wait(pick.whole(0, 60))
      }
    })()
    const outages = (async () => {
      while (!isOver()) {
        await wait(pick.whole(500, 2_000))
        await service.leave()
        await wait(pick.whole(20, 200))
        await service.back()
        counts.outages += 1
      }
    })()
    await Promise.all([...programs, changing, outages])
    await within(endLimit, 'the readers', Promise.all(readers))
    const shown = async (): Promise<boolean> =>
      (await ran('cat', [`${directory}/reports/${ids.report}.json`])).stdout.includes(`"${description}"`)
    await so(20_000, 'the last text to be shown', shown).catch((late: Error) => wrong.push(late.message))
    const renamed = await shell(`ls '${directory}/${water}' | grep -c '^[AB]$'`, '/')
    if (renamed.stdout.trim() !== '1') wrong.push(`${renamed.stdout.trim()} of A and B are there`)
  })
  return { counts, wrong }
}

export const storm: Figure = {
  name: 'storm',
  goal: 'ten minutes of readers, writers, renamers, 10,000 refreshes, signals and outages: no program waits for ever, 0 wrong texts',
  least: { refreshes: 10_000 },
  run,
}
