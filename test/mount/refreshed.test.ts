// What the kernel keeps, and what a refresh ends: names, sizes and listings, told without waiting.
import { join } from 'node:path'
import t from 'tap'
import { callsDuring, realMount } from '../testbed/mount.js'
import { run, shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

t.jobs = 2

const folder = 'projects/Water splitting'

t.test('what the kernel was told', async t => {
  const testbed = await warmMount(t, {
    settings: { logLevel: 'debug', ttlListing: '1h' },
  })
  const { files, service, directory } = testbed

  t.test(
    'STALE-4 a renamed and a new calculation are there at once after a refresh, the old name is not',
    async t => {
      t.equal(await outcome(files.lstat(`${folder}/H2O/output.cml`)), 'done')
      await testbed.service.edit('calculation', ids.product, { name: 'Water' })
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

  t.test('STALE-4 nor is what was gone before its answer came, once its directory was touched', async t => {
    const id = service.seed.addCalculation({
      name: 'Fog',
      project: ids.water,
      files: { 'fog.txt': 'fog', 'mist.txt': 'mist' },
    })
    await testbed.calcfs('refresh', join(directory, folder))
    await files.readdir(`${folder}/Fog`)
    const size = service.hold(/^(HEAD|GET) .*bitstream.*fog\.txt/)
    const waiting = outcome(files.lstat(`${folder}/Fog/fog.txt`))
    await size.met
    const list = service.answer(new RegExp(`^GET /calculation/files\\?id=${id}`), '["mist.txt"]')
    await files.touch(`${folder}/Fog`)
    size.open()
    await waiting
    t.strictSame(
      (await namesOf(testbed, `${folder}/Fog`)).filter(name => name.endsWith('.txt')),
      ['mist.txt'],
    )
    t.equal(await outcome(files.lstat(`${folder}/Fog/fog.txt`)), 'ENOENT')
    list()
  })
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

t.test('XATTR-1 calls of extended attributes end at the kernel, unless they are asked for', async t => {
  const testbed = await realMount(t, { xattrs: 'off', settings: { logLevel: 'debug' } })
  const found = await run('getfattr', ['-d', '-m', '-', `${testbed.directory}/reports`])
  t.match(found.stderr, /Operation not supported|^$/)
  const asked = await callsDuring(testbed, () =>
    shell('ls -l reports; cp -a reports /dev/shm/x; rm -r /dev/shm/x', testbed.directory),
  )
  t.strictSame(
    asked.filter(({ verb }) => verb.includes('xattr')),
    [],
  )
})
