// What is prefetched for a user, and what never is.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import type { Chance } from '../../long/chance.js'
import { cml } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const projects = 4
const calculations = 6

/** Orders in which programs walk through what a directory lists. */
const orders: Readonly<Record<string, (listed: readonly string[], pick: Chance) => readonly string[]>> = {
  'as listed': listed => listed,
  backwards: listed => listed.toReversed(),
  'by number': listed => listed.toSorted((one, other) => Number(one.slice(4)) - Number(other.slice(4))),
  'by letters, backwards': listed => listed.toSorted().reverse(),
  none: (listed, pick) => pick.shuffled(listed),
}

/** Projects of calculations, all alike; sizes differ, so that no answer can be taken for another. */
function fill(seed: Seed): void {
  for (let p = 1; p <= projects; p += 1) {
    const project = seed.addProject({ id: String(p * 100), name: `P${p}`, owner: 'demo' })
    for (let c = 1; c <= calculations; c += 1) {
      const id = String(p * 100 + c)
      const files = {
        'a.inp': `input of ${id}\n`,
        'b.out': `${id} `.repeat(c * 20),
        'c.log': `log of ${id}\n`,
      }
      seed.addCalculation({ id, name: `C${c}`, project, files })
    }
  }
}

/** What a drawn tree holds. */
interface Drawn {
  projects: number
  calculations: number
  files: number
}

/** Projects in projects, with calculations in each. */
function drawTree(seed: Seed, draw: (below: number) => number): Drawn {
  const drawn: Drawn = { projects: 0, calculations: 0, files: 0 }

  function addProject(depth: number, parent?: string): void {
    drawn.projects += 1
    const id = String(1_000 * drawn.projects)
    const within = parent === undefined ? {} : { parent }
    const project = seed.addProject({ id, name: `p ${id}`, owner: 'demo', ...within })
    for (let at = 1 + draw(5); at > 0; at -= 1) {
      const names = Array.from(
        { length: draw(5) },
        (_, file) => `file${file}${['.inp', '.out', '.log'][file % 3]}`,
      )
      const texts = names.map(name => [name, name.repeat(1 + draw(2_000))] as const)
      const files = { 'output.cml': cml, ...Object.fromEntries(texts) }
      drawn.files += names.length + 1
      drawn.calculations += 1
      seed.addCalculation({ id: `${Number(id) + at}`, name: `${draw(9)} c${at}`, project, files })
    }
    for (let at = depth === 1 ? 0 : draw(3); at > 0; at -= 1) addProject(depth + 1, project)
  }
  for (let at = 0; at < 2; at += 1) addProject(0)
  return drawn
}

/** As `cp -r` does it; what was copied. */
async function copied(testbed: Testbed, directory: string): Promise<string[]> {
  const found: string[] = []
  for (const [name, kind] of await testbed.files.readdir(directory)) {
    const path = `${directory}/${name}`
    const { size } = await testbed.files.lstat(path)
    if (kind === 'directory') {
      found.push(...(await copied(testbed, path)))
      continue
    }
    const text = await textOf(testbed, path)
    if (Buffer.byteLength(text) !== size)
      throw new Error(`${path} has ${text.length} bytes, and says ${size}`)
    found.push(`${path} ${text}`)
  }
  return found
}

/** Guesses go out behind the user's back: waits until these requests, and no fewer, were heard. */
async function heardSoon(testbed: Testbed, from: number, which: RegExp, count: number): Promise<string[]> {
  const found = () => lines(testbed.service.heard.slice(from)).filter(line => which.test(line))
  for (const end = Date.now() + 5_000; found().length < count && Date.now() < end; )
    await new Promise(wake => setTimeout(wake, 20))
  return found()
}

const settled = (): Promise<unknown> => new Promise(wake => setTimeout(wake, 300))
const idIn = (line: string): string => /[?&]id=(\d+)/.exec(line)?.[1] ?? ''
const filesOf = (id: number): RegExp => new RegExp(`^GET /calculation/files\\?id=${id}&type=files`)

export function prefetch(t: Test, open: OpenTestbed): void {
  t.test('foresight', async t => {
    t.test('AHEAD-1 opening one folder causes no request outside of it', async t => {
      const testbed = await open(t, { fill })
      await namesOf(testbed, 'projects/P1')
      const from = testbed.service.heard.length
      for (const name of await namesOf(testbed, 'projects/P1/C3')) {
        await testbed.files.lstat(`projects/P1/C3/${name}`)
        const file = await testbed.files.open(`projects/P1/C3/${name}`, 'r')
        await file.read(4096, 0)
        await file.close()
      }
      await settled()
      const outside = lines(testbed.service.heard.slice(from)).filter(
        line => idIn(line) !== '103' && line !== 'GET /user/info',
      )
      t.same(outside, [], 'all is about calculation 103')
    })

    t.test(
      'AHEAD-2 the second folder makes a walk: the next ones are asked for before they are entered',
      async t => {
        const testbed = await open(t, { fill })
        await namesOf(testbed, 'projects/P1')
        await namesOf(testbed, 'projects/P1/C1')
        await settled()
        t.same(await heardSoon(testbed, 0, filesOf(102), 0), [], 'one folder says nothing')
        await namesOf(testbed, 'projects/P1/C2')
        for (const id of [103, 104, 105, 106])
          t.not((await heardSoon(testbed, 0, filesOf(id), 1)).length, 0, `${id} is foreseen`)
        const from = testbed.service.heard.length
        for (const name of ['C3', 'C4', 'C5', 'C6']) await namesOf(testbed, `projects/P1/${name}`)
        t.same(
          await heardSoon(testbed, from, /calculation\/files\?id=10/, 0),
          [],
          'and is not asked for again',
        )
        const asked = await heardSoon(testbed, 0, /calculation\/files/, 0)
        t.equal(new Set(asked).size, asked.length, 'and nothing was asked for twice')
      },
    )

    t.test('AHEAD-2 AHEAD-1 a walk in any order is foreseen, by four times what it used at most', async t => {
      const { seed, pick } = drawnFrom()
      const [order, names] = [
        pick.of(Object.keys(orders)),
        Array.from({ length: 300 }, (_, at) => `run ${at}`),
      ]
      const idOf = (name: string): number => 1_000 + names.indexOf(name)
      const testbed = await open(t, {
        fill(seed) {
          const project = seed.addProject({ id: '900', name: 'Long', owner: 'demo' })
          for (const name of names)
            seed.addCalculation({ id: String(idOf(name)), name, project, files: { 'a.out': name } })
        },
      })
      const { heard } = testbed.service
      testbed.service.beforeAnswer(/^GET \/calculation\/files\?/, 20)
      const listed = (await namesOf(testbed, 'projects/Long')).filter(name => !name.startsWith('.'))
      const walked = (orders[order]?.(listed, pick) ?? []).slice(0, 14)
      let foreseen = 0
      for (const name of walked) {
        if (lines(heard).some(line => filesOf(idOf(name)).test(line))) foreseen += 1
        await namesOf(testbed, `projects/Long/${name}`)
      }
      if (order !== 'none') t.ok(foreseen >= 7, `${foreseen} of 14, ${order}, seed ${seed}`)
      await new Promise(wake => setTimeout(wake, 1_500))
      const asked = lines(heard).filter(line => /^GET \/calculation\/files\?.*type=files/.test(line))
      t.equal(new Set(asked).size, asked.length, 'nothing is asked twice')
      if (order !== 'none')
        t.ok(asked.length <= 5 * walked.length, `${asked.length} of 300, ${order}, seed ${seed}`)
    })

    t.test('AHEAD-2 files that are read once all folders were walked through are fetched ahead', async t => {
      const runs = Array.from({ length: 24 }, (_, at) => `run ${at}`)
      const testbed = await open(t, {
        fill(seed) {
          const project = seed.addProject({ id: '900', name: 'Long', owner: 'demo' })
          for (const [at, name] of runs.entries())
            seed.addCalculation({ id: String(901 + at), name, project, files: { 'a.out': name } })
        },
      })
      await namesOf(testbed, 'projects/Long')
      for (const name of runs) await namesOf(testbed, `projects/Long/${name}`)
      for (const name of runs.slice(0, 2)) await textOf(testbed, `projects/Long/${name}/a.out`)
      for (const id of [903, 904])
        t.equal(
          (await heardSoon(testbed, 0, new RegExp(`^GET .*bitstream\\?id=${id}&`), 1)).length,
          1,
          `${id}`,
        )
      t.same(await heardSoon(testbed, 0, /^HEAD .*bitstream\?id=90[34]&/, 0), [], 'without a HEAD')
    })

    t.test('AHEAD-2 what was never looked at on the way is not asked for', async t => {
      const testbed = await open(t, { fill })
      await namesOf(testbed, 'projects/P1')
      for (let c = 1; c <= calculations; c += 1) await namesOf(testbed, `projects/P1/C${c}`)
      await settled()
      const others = lines(testbed.service.heard).filter(line =>
        /bitstream|xyz|GET \/calculation\?/.test(line),
      )
      t.same(others, [], 'find asks for no size')
    })

    t.test('AHEAD-2 sizes that are looked at in one folder are known in the next ones', async t => {
      const testbed = await open(t, { fill })
      const look = async (name: string) => {
        for (const file of await namesOf(testbed, `projects/P1/${name}`)) {
          if (!file.startsWith('.')) await testbed.files.lstat(`projects/P1/${name}/${file}`)
        }
      }
      await namesOf(testbed, 'projects/P1')
      await look('C1')
      await look('C2')
      const sizes = await heardSoon(testbed, 0, /^HEAD .*bitstream\?id=103/, 3)
      t.equal(sizes.length, 3)
      await settled()
      const from = testbed.service.heard.length
      await look('C3')
      t.same(await heardSoon(testbed, from, /id=103/, 0), [], 'nothing is left to ask')
    })

    t.test('AHEAD-2 one kind of file that is read in each folder is fetched ahead, and no other', async t => {
      const testbed = await open(t, { fill })
      await namesOf(testbed, 'projects/P2')
      for (const name of ['C1', 'C2', 'C3']) {
        await namesOf(testbed, `projects/P2/${name}`)
        await textOf(testbed, `projects/P2/${name}/b.out`)
      }
      for (const id of [204, 205, 206]) {
        const fetched = await heardSoon(testbed, 0, new RegExp(`^GET .*bitstream\\?id=${id}&`), 1)
        t.same(fetched.length, 1, `the b.out of ${id} has come`)
      }
      await settled()
      const from = testbed.service.heard.length
      t.equal(await textOf(testbed, 'projects/P2/C5/b.out'), '205 '.repeat(100))
      t.same(await heardSoon(testbed, from, /bitstream\?id=2/, 0), [], 'nothing more of this project')
      const contents = lines(testbed.service.heard).filter(line => /^GET .*bitstream/.test(line))
      t.ok(
        contents.every(line => line.includes('b.out')),
        'no other file was fetched',
      )
      t.equal(new Set(contents).size, contents.length, 'and none twice')
    })

    t.test('AHEAD-2 a walk goes on from one project into the next', async t => {
      const testbed = await open(t, { fill })
      for (const at of ['', '/P1', '/P1/C1', '/P1/C2', '/P1/C3']) await namesOf(testbed, `projects${at}`)
      t.equal((await heardSoon(testbed, 0, /descendant\?id=200/, 2)).length, 2, 'half-way through the first')
      await namesOf(testbed, 'projects/P2')
      t.equal((await heardSoon(testbed, 0, filesOf(201), 1)).length, 1, 'its calculations')
      t.equal((await heardSoon(testbed, 0, /project\/descendant\?id=300/, 2)).length, 2, 'the next project')
    })

    t.test(
      'LIST-13 READ-9 a copy asks for each content once, and after a remount for what is out of date only',
      async t => {
        const { seed, draw } = drawnFrom()
        t.comment(`CALCFS_TEST_SEED=${seed}`)
        let drawn: Drawn = { projects: 0, calculations: 0, files: 0 }
        const testbed = await open(t, {
          fill: seed => {
            drawn = drawTree(seed, draw)
          },
          settings: { ttlListing: '1h' },
          // A machine that pauses for a second is no silent service: AVAIL-1 would send a question once more.
          speedup: 1 / 20,
        })
        const asked = async (work: () => Promise<unknown>): Promise<string[]> => {
          const from = testbed.service.heard.length
          await work()
          await settled()
          return lines(testbed.service.heard.slice(from)).filter(line => !/login|user\/info/.test(line))
        }
        let first: string[] = []
        const cold = await asked(async () => {
          first = await copied(testbed, 'projects')
        })
        const contents = cold.filter(line => /bitstream/.test(line))
        t.equal(new Set(contents).size, contents.length, 'one GET and at most one HEAD a file')
        const fetched = contents.filter(line => line.startsWith('GET'))
        t.equal(fetched.length, drawn.files, 'each file is fetched once')
        const heads = contents.length - fetched.length
        // Nothing comes ahead of the first folders; behind them short files tell their sizes by their bodies.
        t.ok(heads <= 10 + fetched.length / 2, `${heads} HEADs of ${fetched.length} files`)
        t.same(await asked(() => copied(testbed, 'projects')), [], 'a second copy asks for nothing')
        const remounted = await asked(async () => {
          await testbed.remount()
          t.same(await copied(testbed, 'projects'), first)
        })
        t.same(remounted, [], 'nor does one after a remount')
        await testbed.pass(7_200_000)
        const later = await asked(async () => t.same(await copied(testbed, 'projects'), first))
        t.same(
          later.filter(line => /bitstream|xyz/.test(line)),
          [],
          'sizes and contents are known for ever',
        )
        // Of a project its record, two listings, shares and path; of a calculation its record and its files.
        const most = 5 * (drawn.projects + 1) + 2 * drawn.calculations
        t.ok(later.length <= most, `${later.length} requests, ${most} at most`)
      },
    )
  })
}
