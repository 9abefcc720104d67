// Mutation score: of the small changes that break a file's code, how many its tests notice (Stryker).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Figure, Frame } from '../engine.js'

const root = resolve(fileURLToPath(import.meta.url), '../../../../..')
const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js')

/** Critical code, and the tests that must notice a mutation. Compiled files: what runs is what is mutated. */
const groups = {
  'interval set': {
    mutate: ['src/cache/content/download/interval-set.js'],
    tests: ['test/cache/content/download/interval-set.test.js'],
  },
  checksums: {
    mutate: ['src/cache/content/store/checksum.js'],
    tests: ['test/cache/content/store/checksum.test.js'],
  },
  names: { mutate: ['src/drive/nodes/name.js'], tests: ['test/drive/nodes/name-edges.test.js'] },
  journal: {
    mutate: ['src/edit/journal/draft.js', 'src/edit/journal/drafts.js', 'src/edit/journal/draft-meta.js'],
    tests: ['test/edit/journal/journal.test.js'],
  },
} as const
type Group = keyof typeof groups

/** Per cent of the mutants. */
const goal = 80

const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      mutants: z.array(
        z.object({
          status: z.string(),
          mutatorName: z.string(),
          replacement: z.string().optional(),
          location: z.object({ start: z.object({ line: z.number() }) }),
        }),
      ),
    }),
  ),
})
type Mutant = z.infer<typeof reportSchema>['files'][string]['mutants'][number] & { readonly file: string }

/** Milliseconds that a mutant may take longer than the tests do: on a machine that does other things too only what never ends is a timeout. */
const patience = 30_000

/** @param limit milliseconds until Stryker is ended */
async function mutantsOf(group: Group, limit: number): Promise<readonly Mutant[]> {
  const { mutate, tests } = groups[group]
  const work = await mkdtemp(join(tmpdir(), 'calcfs-mutants-'))
  const report = join(work, 'report.json')
  const config = join(work, 'stryker.json')
  const options = {
    testRunner: 'tap',
    tap: { testFiles: tests.map(file => `dist/${file}`), nodeArgs: [] },
    plugins: ['@stryker-mutator/tap-runner'],
    mutate: mutate.map(file => `dist/${file}`),
    reporters: ['json'],
    jsonReporter: { fileName: report },
    tempDirName: join(work, 'sandboxes'),
    ignorePatterns: ['/bench', '/docs', '/test', '/systemd', '/.tap', '/.long', '/dist/bench', '/.git'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    timeoutMS: patience,
    allowEmpty: true,
  }
  await writeFile(config, JSON.stringify(options))
  const child = spawn(process.execPath, [stryker, 'run', config], {
    cwd: root,
    // Its copy of dist/ is without the limit that bin/bundle.mjs puts there.
    env: { ...process.env, TAP_TIMEOUT: '590' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', piece => (said = `${said}${piece}`.slice(-2_000)))
  const timer = setTimeout(() => child.kill('SIGKILL'), limit)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  if (code !== 0) throw new Error(`Stryker ended with ${code} for ${group}: ${said}`)
  const { files } = reportSchema.parse(JSON.parse(await readFile(report, 'utf8')))
  return Object.entries(files).flatMap(([file, { mutants }]) => mutants.map(one => ({ ...one, file })))
}

const isCaught = ({ status }: Mutant): boolean => status === 'Killed' || status === 'Timeout'
/** One that does not even load was no mutant. */
const counts = ({ status }: Mutant): boolean => status !== 'CompileError' && status !== 'Ignored'

async function run(frame: Frame): Promise<void> {
  const { until } = frame.order
  for (const group of Object.keys(groups) as Group[]) {
    if (frame.isOver()) {
      frame.short(`${group} not begun`)
      continue
    }
    const all = (await mutantsOf(group, until - Date.now() + 240_000)).filter(counts)
    const caught = all.filter(isCaught).length
    const score = Math.floor((1000 * caught) / Math.max(1, all.length)) / 10
    frame.add(`${group}: mutants`, all.length)
    frame.add(`${group}: caught`, caught)
    frame.add(`least ${group}, %`, score)
    for (const { file, location, mutatorName, replacement } of all.filter(one => !isCaught(one)))
      frame.say(`survives: ${file}:${location.start.line} ${mutatorName} ${replacement}`)
    frame.say(`${group}: ${caught} of ${all.length}, ${score} %`)
    if (score < goal) frame.short(`${group} ${score} %`)
  }
}

export const mutants: Figure = {
  name: 'mutants',
  goal: 'mutation score of journal, checksums, names and interval set: at least 80 % each',
  run,
}
