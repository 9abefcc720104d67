// Promises of `calcfs cache`: how much is kept, that it goes without a draft, and that each file is checked.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { printed, python } from '../../testbed/programs.js'
import { ids, log } from '../../testbed/sample-data.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'

t.jobs = 2

const file = 'projects/Water splitting/TS1_opt/run.log'
const bitstreams = (asked: readonly { path: string }[]) =>
  asked.filter(({ path }) => path.startsWith('/calculation/files/bitstream'))

async function asked(testbed: KernelTestbed, ...args: string[]) {
  const where = ['--url', testbed.service.url, '--user', 'demo']
  const { code, stdout, stderr } = await testbed.calcfs('cache', ...args, '--json', ...where)
  return { code, stderr, ...JSON.parse(stdout) }
}

async function keptFiles({ home }: KernelTestbed): Promise<string[]> {
  const found = await readdir(join(home, 'cache'), { recursive: true, withFileTypes: true })
  return found
    .filter(entry => entry.isFile() && /\/content\/kept$/.test(entry.parentPath))
    .map(entry => join(entry.parentPath, entry.name))
}

t.test('info, clear and verify, mounted and not (CLI-20)', async t => {
  const testbed = await warmMount(t, { settings: { access: 'edit' } })
  const { service } = testbed
  const refused = service.refuse(/^PUT \/report/, 403)
  t.equal(await textOf(testbed, file), log)
  const text = (await textOf(testbed, 'reports/42.json')).replace('Supporting information', 'Mine')
  t.equal(await outcome(overwrite(testbed, 'reports/42.json', text)), 'EACCES')
  refused()
  for (const how of ['mounted', 'not mounted']) {
    if (how === 'not mounted') await testbed.end()
    t.match(
      await asked(testbed, 'info'),
      { code: 0, files: 1, bytes: Number, limitBytes: Number, directory: /content$/ },
      how,
    )
    t.match(await asked(testbed, 'verify'), { code: 0, checked: 1, damaged: 0 }, how)
    const [kept = ''] = await keptFiles(testbed)
    const bytes = await readFile(kept)
    bytes[10] = (bytes[10] ?? 0) ^ 1
    await writeFile(kept, bytes)
    t.match(await asked(testbed, 'verify'), { code: 1, checked: 1, damaged: 1 }, how)
    t.match(await asked(testbed, 'info'), { files: 0 }, 'a damaged one goes')
    if (how === 'not mounted') await testbed.mount()
    t.equal((await testbed.files.stat(file)).size, log.length)
    const other = await testbed.files.open(file.replace('run.log', 'output.cml'), 'r')
    await other.read(10, 0)
    await other.close()
  }
  const part = join(testbed.directory, 'projects')
  t.match(await testbed.calcfs('cache', 'info', part), { code: 0 }, 'a path below means its drive')
  t.match(await testbed.calcfs('cache', 'clear', part), { code: 2, stderr: /name one whole drive/ })
  // Pages that the kernel keeps cause no call: a file that it has not read since.
  const input = file.replace('run.log', 'input.inp')
  t.equal(await textOf(testbed, input), '! B3LYP opt\n')
  t.match(await asked(testbed, 'clear'), { code: 0, files: 2 })
  t.match(await asked(testbed, 'info'), { files: 0, bytes: 0 })
  t.same(await keptFiles(testbed), [])
  t.equal(await textOf(testbed, 'reports/42.json'), text, 'a draft is no part of the cache')
  await testbed.remount()
  const again = await service.during(async () => t.equal(await textOf(testbed, file), log))
  t.not(bitstreams(again).length, 0, 'what was cleared is downloaded again')
  t.equal(await textOf(testbed, 'reports/42.json'), text)
})

t.test(
  'READ-12 READ-13 what one mount has found replaced is new for another mount of the same cache, too',
  async t => {
    const path = `by-id/calculation/${ids.transition}/run.log`
    const one = await warmMount(t)
    const { service } = one
    let [letter, length] = ['a', 600_000]
    service.intercept(/^(GET|HEAD) \/calculation\/files\/bitstream\?.*run\.log/, response => {
      response.writeHead(200, { 'content-length': length, etag: `"${letter}"` })
      response.end(letter.repeat(length))
    })
    const other = await realMount(t, {}, { service, home: one.home })
    const read = async ({ directory }: KernelTestbed) => {
      const script = `import sys; text = open(sys.argv[1]).read(); print("".join(sorted(set(text))), len(text))`
      return (await printed(python, ['-c', script, join(directory, path)])).trim()
    }
    for (const testbed of [one, other]) t.equal(await read(testbed), 'a 600000')
    const refresh = () => one.calcfs('refresh', join(one.directory, path))
    const gets = await service.during(async () => {
      t.match(await refresh(), { code: 0 })
      t.equal(await read(one), 'a 600000')
    })
    const bodies = gets.filter(({ method, path }) => method === 'GET' && /bitstream.*run\.log/.test(path))
    t.ok(bodies.length <= 1, 'but for a look at the version, what a validator proves to be the same stays')
    await service.leave()
    t.match(await refresh(), { code: 4 })
    t.equal(await read(one), 'a 600000', 'a service that is away takes nothing')
    await service.back()
    await until(20_000, 'the service is heard', async () => (await refresh()).code === 0)
    for (const [next, size] of [
      ['b', 599_000],
      ['c', 599_000],
    ] as const) {
      letter = next
      length = size
      t.equal((await refresh()).code, 0)
      t.equal(await read(one), `${next} ${size}`)
      await until(
        10_000,
        'the new version',
        async () => (await read(other).catch(() => '')) === `${next} ${size}`,
      )
    }
  },
)
