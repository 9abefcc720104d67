// The recipes of docs/cookbook.md, run on a real mount as the page has them: each prints what the page shows, also a second time.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { sampleDirectory } from '../../src/service/sample.js'
import type { Seed } from '../../src/service/seed.js'
import { type Ran, run } from '../testbed/programs.js'
import { fillShipped } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { isDrawn } from '../testbed/variants.js'
import { type WarmTestbed, warmMount } from '../testbed/warm-mount.js'
import { trapTitles } from './trap-titles.js'

t.jobs = 3

const bin = fileURLToPath(new URL('../../../bin', import.meta.url))

/** The lines that each recipe begins with, and the recipes. */
async function page() {
  const text = await readFile(join(bin, '../docs/cookbook.md'), 'utf8')
  const [head = '', ...sections] = text.split(/^## /m)
  const [beginning = ''] = blocksOf(head)
  const recipes = sections.map(section => {
    const [script = '', prints = ''] = blocksOf(section)
    return { title: section.slice(0, section.indexOf('\n')), script, prints }
  })
  return { beginning, recipes }
}

const blocksOf = (section: string): readonly string[] =>
  [...section.matchAll(/^```(?:sh|text)\n(.*?)^```$/gms)].map(([, block = '']) => block)

/** As a user whose shell stands in a directory of its own. */
function cook({ local, home, directory }: WarmTestbed, script: string): Promise<Ran> {
  const node = dirname(process.execPath)
  return run('bash', ['-c', script], {
    cwd: local,
    limit: 90_000,
    environment: {
      LAB: directory,
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_STATE_HOME: join(home, 'state'),
      XDG_RUNTIME_DIR: join(home, 'run'),
      PATH: `${bin}:${node}:/usr/bin:/bin`,
    },
  })
}

t.test(
  'PROG-1 each recipe of the cookbook prints what the page shows, and half of them a second time',
  async t => {
    const testbed = await warmMount(t, { fill: fillShipped })
    const { beginning, recipes } = await page()
    t.ok(recipes.length >= 10, `${recipes.length} recipes`)
    for (const [at, { title, script, prints }] of recipes.entries()) {
      t.not(prints, '', title)
      for (const time of isDrawn(at, 2) ? ['first', 'second'] : ['first']) {
        const sent = await testbed.service.during(async () => {
          t.same(
            await cook(testbed, beginning + script),
            { code: 0, stdout: prints, stderr: '' },
            `${title}, the ${time} time`,
          )
        })
        if (time === 'second') t.same(writes(sent), [], `${title} saves nothing a second time`)
      }
    }
  },
)

t.test('PROG-1 the recipes take any title', async t => {
  const titles = trapTitles(t, 5)
  const unconverged = `${titles[0]}, cut`
  const log = await readFile(join(sampleDirectory(), 'water/H2O/H2O.out'), 'utf8')
  const cut = log.slice(0, log.indexOf('Optimization converged'))
  const file = (path: string) => readFileSync(join(sampleDirectory(), 'water/H2O', path))
  function fill(drawn: Seed): void {
    fillShipped(drawn)
    const project = drawn.addProject({ name: '- odd "names"\'s $HOME', owner: 'demo' })
    const files = { 'output.cml': file('output.cml'), 'H2O.out': file('H2O.out') }
    for (const name of titles) drawn.addCalculation({ name, project, files })
    drawn.addCalculation({ name: unconverged, project, files: { 'H2O.out': cut } })
  }
  const testbed = await warmMount(t, { fill })
  const { beginning, recipes } = await page()
  for (const { title, script, prints } of recipes) {
    const { code, stdout, stderr } = await cook(testbed, beginning + script)
    t.same({ code, stderr }, { code: 0, stderr: '' }, title)
    // The other recipes name the project or the report that they are about.
    const counted = prints.replace(/^\d+(?= pictures$)/m, drawn => `${Number(drawn) + titles.length}`)
    if (!/^\d+ logs/.test(prints)) t.equal(stdout, counted, title)
    else {
      const all = Number.parseInt(prints, 10) + titles.length + 1
      const [count, ...found] = stdout.split('\n')
      t.equal(count, `${all} logs, 1 not converged`)
      t.match(found.join('\n'), /, cut\/H2O\.out\n$/)
    }
  }
})

t.test('PROG-1 a recipe ends with an error where an edit waits unsaved', async t => {
  const testbed = await warmMount(t, { fill: fillShipped })
  const { beginning } = await page()
  const appended = `echo nonsense >> "$LAB/reports/2/order.txt"; sync`
  t.equal((await cook(testbed, appended)).code, 0, 'bash tells of no failed close')
  const { code, stdout, stderr } = await cook(testbed, `${beginning}echo went on`)
  t.same({ code, stdout }, { code: 7, stdout: '' })
  t.match(stderr, /2-order\.txt: .*nonsense/, 'the reason is told')
})
