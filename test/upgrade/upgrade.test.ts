// An upgrade: the directories that the version of cfd6df4 has left behind show every draft, text, known report and content again.
// They were made by hand: `calcfs serve --sample` and a mount of it, a walk, a read of the biggest output, a save of report 1 and one of report 2 that is no JSON.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { printed } from '../testbed/programs.js'
import { namesOf, outcome, textOf } from '../testbed/testbed.js'

t.setTimeout(180_000)

const archive = new URL('../../../test/upgrade/directories-of-cfd6df4.tar.gz', import.meta.url)
/** The service at that address is gone, as for a laptop on a train: what is shown comes from these directories. */
const url = 'http://127.0.0.1:18777'
const account = '127.0.0.1_18777-demo-584afd28501d'
/** An hour after they were made. */
const later = Date.parse('2026-11-25T11:20:00Z')
/** The biggest output of the sample. */
const output = 'projects/Water splitting/H2O_dimer_opt/H2O_dimer.out'

async function upgraded(
  t: Test,
  spoil: (home: string) => Promise<void> = async () => {},
): Promise<MountTestbed> {
  const home = await mkdtemp(join(tmpdir(), 'calcfs-upgrade-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'run'))
  await printed('tar', ['-xzf', archive.pathname, '-C', home])
  await writeFile(join(home, 'date'), String(later - Date.now()))
  await spoil(home)
  return realMount(t, { preload: new URL('../testbed/set-date.js', import.meta.url) }, { home, url })
}

/** The unsaved text and the texts of before, which no service could give back. */
async function nothingIsLost(t: Test, testbed: MountTestbed): Promise<void> {
  t.same(await namesOf(testbed, '.calcfs/drafts'), ['2.json', '2.json.why'])
  t.match(await textOf(testbed, 'reports/2.json'), /^ {2}title: "Supporting information/m, 'it is shown')
  const report = join(testbed.directory, 'reports/1.json')
  t.match(await testbed.calcfs('history', report), {
    code: 0,
    stdout: /^@2 .* saved[\s\S]*^@1 .* read/m,
  })
  const shown = await testbed.calcfs('history', 'show', `${report}@1`)
  t.match(shown, { code: 0, stdout: /"title": "Energy profile/ })
}

t.test('UPGRADE-1 drafts, texts, known reports and contents are there, without the service too', async t => {
  const testbed = await upgraded(t)
  await nothingIsLost(t, testbed)
  const known = (await namesOf(testbed, 'reports')).filter(name => name.endsWith('.json'))
  t.same(known, ['1.json', '2.json'])
  t.match(await textOf(testbed, 'reports/1.json'), /"title": "Saved Energy profile/)
  const bytes = await testbed.files.readFile(output)
  t.equal(createHash('md5').update(bytes).digest('hex'), 'd8d0558e84dddbb882160f9b3bf980d2')
  t.match(await testbed.calcfs('login', '--list'), { code: 0, stdout: /127\.0\.0\.1_18777-demo/ })
})

t.test('UPGRADE-1 where a ledger and a content are damaged, what a user wrote is there', async t => {
  const testbed = await upgraded(t, async home => {
    const kept = join(home, 'cache/calcfs', account, 'content/kept')
    for (const name of await readdir(kept)) await truncate(join(kept, name), 1_000)
    await writeFile(join(home, 'state/calcfs', account, 'known/ledger.db'), 'no ledger any more')
  })
  await nothingIsLost(t, testbed)
  t.not(await outcome(testbed.files.readFile(output)), 'done', 'what is damaged is not shown')
})
