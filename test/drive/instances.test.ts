// Instances that lack operations, drawn: each mounts, walks, reads, saves and makes rightly, or says why not in a sentence.
import t, { type Test } from 'tap'
import { type InProcessTestbed, inProcess } from '../testbed/in-process.js'
import { ids, log } from '../testbed/sample-data.js'
import { outcome, overwrite } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'

t.jobs = 4

const cases = Number(process.env['CALCFS_TEST_RUNS'] ?? 20)
const { seed, draw } = drawnFrom()

/** What instances are known to lack: each of them is missing in half of the cases. */
const dispensable = [
  'GET /user/info',
  'GET /navigation/path/resolve',
  'GET /report/types',
  'GET /project/share',
  'POST /project/share',
  'GET /calculation/xyz',
]
/** What the public listing names: each is missing in a tenth of the cases. */
const core = [
  'GET /report-type',
  'GET /project',
  'POST /project',
  'PUT /project',
  'GET /project/descendant',
  'GET /report',
  'PUT /report',
  'PUT /report/calculations',
  'GET /calculation',
  'PUT /calculation',
  'GET /calculation/files',
  'GET /calculation/files/bitstream',
]
const statuses = [404, 405, 501]

interface Instance {
  readonly missing: ReadonlyMap<string, number>
  readonly shortcomings: Readonly<Record<string, boolean>>
}

function drawInstance(): Instance {
  const missing = new Map<string, number>()
  for (const [operations, one] of [
    [dispensable, 2],
    [core, 10],
  ] as const)
    for (const operation of operations)
      if (draw(one) === 0) missing.set(operation, statuses[draw(statuses.length)] ?? 404)
  const shortcomings = ['head', 'range', 'contentLength', 'root', 'unquotedLists', 'hide', 'bareListings']
  return { missing, shortcomings: Object.fromEntries(shortcomings.map(name => [name, draw(2) === 0])) }
}

/** Nothing shows then that this is a platform which takes the sign-in. */
const tellsNothing = ({ missing }: Instance): boolean =>
  ['user/info', 'report/types', 'report-type', 'project', 'project/descendant'].every(one =>
    missing.has(`GET /${one}`),
  )

const water = 'projects/Water splitting'
const byNumber = `projects/${ids.water}`

async function tryInstance(t: Test, instance: Instance): Promise<void> {
  const { missing, shortcomings } = instance
  const testbed = await inProcess(t, {
    settings: { root: [ids.water], deadlineMetadata: '8s' },
    service: { shortcomings },
  })
  for (const [operation, status] of missing)
    testbed.service.refuse(new RegExp(`^${operation}(\\?|$)`), status, '{"error":"no such operation"}')
  const has = (...operations: readonly string[]): boolean => operations.every(one => !missing.has(one))
  const refusal = await testbed.introduced()
  if (tellsNothing(instance)) return void t.match(refusal, /does not answer as the platform does/)
  // Neither its record nor what lies in it: the number may be mistyped.
  if (missing.get('GET /project') === 404 && !has('GET /project/descendant'))
    return void t.match(refusal, /knows no such project/)
  t.equal(refusal, undefined, 'it is mounted')
  t.equal(await outcome(testbed.files.readFile('.calcfs/status.json')), 'done')

  // Without records its number is the name of a project that was given by its number.
  const top = has('GET /project') ? water : byNumber
  await walk(t, testbed, instance, top)
  await makes(t, testbed, instance, top)
  await saves(t, testbed, instance, top)
  t.same(testbed.mistakes, [])
}

/** All that is shown is right; what is not shown, or ends with an error, needs an operation that is missing. */
async function walk(t: Test, testbed: InProcessTestbed, { missing }: Instance, top: string): Promise<void> {
  const has = (...operations: readonly string[]): boolean => operations.every(one => !missing.has(one))
  const { files } = testbed
  const listed = await namesOrError(testbed, top)
  if (!has('GET /project/descendant')) return void t.match(listed, [/^E[A-Z]+: ./])
  for (const name of ['H2O', 'No geometry', 'Sub project', 'TS1_opt']) t.ok(listed.includes(name), name)
  const folder = `${top}/TS1_opt`
  const inside = await namesOrError(testbed, folder)
  if (!has('GET /calculation/files')) {
    if (has('GET /calculation')) t.same(inside, ['.calculation.json'], 'without lists there are no files')
    else t.match(inside, [/^E[A-Z]+: ./])
    return
  }
  for (const name of ['empty.txt', 'input.inp', 'output.cml', 'run.log']) t.ok(inside.includes(name), name)
  const contents = [
    ['input.inp', '! B3LYP opt\n'],
    ['run.log', log],
  ] as const
  for (const [name, text] of contents) {
    const read = await textOrError(testbed, `${folder}/${name}`)
    if (has('GET /calculation/files/bitstream')) t.equal(read, text, name)
    else t.match(read, /^E[A-Z]+: ./, name)
  }
  const geometry = await textOrError(testbed, `${folder}/TS1_opt.xyz`)
  if (has('GET /calculation/xyz')) t.match(geometry, /^3\n/)
  else t.match(geometry, /^E[A-Z]+: ./)
  t.equal(await outcome(files.lstat(`${top}/nothing`)), 'ENOENT')
}

async function makes(t: Test, testbed: InProcessTestbed, { missing }: Instance, top: string): Promise<void> {
  const end = await sentenceOf(testbed, testbed.files.mkdir(`${top}/Made`))
  const stored = await testbed.service.elsewhere('GET', `/project/descendant?id=${ids.water}&type=project`)
  if (end === 'done') t.match(stored, '"Made"', 'what was made is on the service')
  else t.match(end, /^E[A-Z]+: ./)
  if (missing.has('POST /project')) t.notMatch(stored, '"Made"')
  else if (['GET /project', 'GET /project/descendant'].every(one => !missing.has(one))) t.equal(end, 'done')
}

async function saves(t: Test, testbed: InProcessTestbed, { missing }: Instance, top: string): Promise<void> {
  for (const { path, from, to, question, needs } of [
    {
      path: `${top}/.project.json`,
      from: /"description": "[^"]*"/,
      to: '"description": "saved"',
      question: `/project?id=${ids.water}`,
      needs: ['GET /project', 'PUT /project'],
    },
    {
      path: `reports/${ids.report}.json`,
      from: 'Supporting information',
      to: 'saved',
      question: `/report?id=${ids.report}`,
      needs: ['GET /report', 'PUT /report'],
    },
  ]) {
    const before = await textOrError(testbed, path)
    if (/^E[A-Z]+: ./.test(before)) {
      t.ok(
        needs.some(one => missing.has(one)),
        `${path}: ${before}`,
      )
      continue
    }
    const end = await sentenceOf(testbed, overwrite(testbed, path, before.replace(from, to)))
    const stored = await testbed.service.elsewhere('GET', question)
    t.equal(/"saved"/.test(stored), end === 'done', `${path}: ${end}`)
    if (needs.every(one => !missing.has(one))) t.equal(end, 'done', path)
    else t.match(end, /^E[A-Z]+: ./)
  }
}

async function namesOrError(testbed: InProcessTestbed, path: string): Promise<readonly string[]> {
  const names = await orSentence(testbed, testbed.files.readdir(path))
  return typeof names === 'string' ? [names] : [...names.keys()]
}

const textOrError = async (testbed: InProcessTestbed, path: string): Promise<string> =>
  (await orSentence(testbed, testbed.files.readFile(path))).toString()

const sentenceOf = async (testbed: InProcessTestbed, work: Promise<void>): Promise<string> =>
  (await orSentence(testbed, work)) ?? 'done'

/** What it gives, or the errno and the sentence of its failure. */
async function orSentence<Value>(testbed: InProcessTestbed, work: Promise<Value>): Promise<Value | string> {
  const end = await outcome(work)
  return end === 'done' ? work : `${end}: ${testbed.lastFailure() ?? 'there is nothing of this name'}`
}

t.test(`POOR-2 ${cases} instances that lack operations`, async t => {
  t.jobs = 4
  t.comment(`CALCFS_TEST_SEED=${seed}`)
  for (let at = 0; at < cases; at++) {
    const instance = drawInstance()
    const lacks = [...instance.missing].map(([operation, status]) => `${operation} ${status}`).join(', ')
    const poor = Object.entries(instance.shortcomings).flatMap(([name, is]) => (is ? [name] : []))
    t.test(`${at}: without ${lacks || 'nothing'}; ${poor.join(' ')}; seed ${seed}`, t =>
      tryInstance(t, instance),
    )
  }
})
