// Promises of `calcfs drafts` and `calcfs report`, mounted and not: what is not saved is listed, shown, compared, sent again or given up.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const path = 'reports/42.json'

/** A draft of report 42 that the service refused with a 500. */
async function refusedOn<Ground extends KernelTestbed>(t: Test, testbed: Ground) {
  const text = (await textOf(testbed, path)).replace('Supporting information', 'SI of the paper')
  const well = testbed.service.refuse(/^PUT \/report/, 500, 'the disk of the database is full')
  t.not(await outcome(overwrite(testbed, path, text)), 'done')
  return { testbed, text, well }
}

const withRefusedDraft = async (t: Test) => refusedOn(t, await warmMount(t))

const drafts = ({ here }: KernelTestbed, ...args: string[]) => here('drafts', ...args)

t.test('the list says what waits and why, and ends with 7; nothing waiting ends with 0 (CLI-5)', async t => {
  const { testbed, well } = await refusedOn(t, await realMount(t))
  const list = await drafts(testbed, 'list')
  t.match(list, { code: 7, stderr: '' })
  t.match(
    list.stdout,
    /^42\.json: report 42 \(reports\/42\.json\), refused since 20.*, \d+ bytes: the service answered 500 to PUT .* \(the service said: the disk of the database is full\)$/m,
  )
  const json = JSON.parse((await drafts(testbed, 'list', '--json')).stdout)
  t.match(json, [{ name: '42.json', record: 'report 42', size: Number, since: /^20/, why: /500/ }])
  t.match(await testbed.calcfs('status', testbed.directory), { stdout: json[0].why })
  well()
  t.match(await drafts(testbed, 'send', '42'), { code: 0 })
  t.match(await drafts(testbed, 'list'), { code: 0, stdout: 'everything is saved.\n' })
})

t.test('show prints the text and its why; diff says which side is which (CLI-6, CLI-8)', async t => {
  const { testbed, text, well } = await withRefusedDraft(t)
  t.match(await drafts(testbed, 'show', '42.json'), { code: 0, stdout: text })
  t.match(await drafts(testbed, 'show', '42'), { code: 0, stdout: text }, 'the ending may be left out')
  const why = await drafts(testbed, 'show', '42.json.why')
  t.match(why.stdout, /^The report 42 was not saved: .*\nThe service said: the disk of the database is full/m)
  t.match(await drafts(testbed, 'show', '77'), {
    code: 1,
    stderr: /there is no draft 77; there are 42\.json\n/,
  })
  const { stdout, code } = await drafts(testbed, 'diff', '42')
  t.equal(code, 0)
  t.match(stdout, /^--- what the service has now\n\+\+\+ 42\.json, not saved\n@@/m)
  t.match(stdout, /^- .*"Supporting information"/m)
  t.match(stdout, /^\+ .*"SI of the paper"/m)

  // While the service refuses it the text stays; then it is saved once, as the program's save would.
  await testbed.service.sends(t, [], async () => {
    t.match(await drafts(testbed, 'send', '42', '--again'), { code: 2, stderr: /outcome is unknown/ })
  })
  const refused = await drafts(testbed, 'send', '42.json')
  t.match(refused, {
    code: 1,
    stderr: /^calcfs: 42\.json is not saved: .*calcfs drafts show 42\.json\.why says more/,
  })
  t.match(refused.stderr, /the service said: the disk of the database is full/)
  t.equal(await textOf(testbed, path), text, 'the drive shows the draft')
  well()
  await testbed.service.sends(t, ['PUT /report'], async () => {
    t.match(await drafts(testbed, 'send', '42.json'), {
      code: 0,
      stdout: '42.json: report 42 is saved.\n',
    })
  })
  t.match(await testbed.service.elsewhere('GET', '/report?id=42'), 'SI of the paper')
  t.notOk((await testbed.files.readdir('.calcfs/drafts')).has('42.json'))
  t.match(await drafts(testbed, 'send', '42.json'), { code: 1, stderr: /everything is saved/ })
})

t.test('send --all sends what can be sent and names what cannot (CLI-8)', async t => {
  const { testbed, well } = await withRefusedDraft(t)
  await outcome(overwrite(testbed, 'reports/43.json', '{ no json'))
  well()
  const all = await drafts(testbed, 'send', '--all')
  t.match(all, { code: 7, stdout: /^42\.json: report 42 is saved\.$/m })
  t.match(all.stderr, /not JSON.*line 1, column 3/)
  t.match(all.stderr, /^calcfs: not saved: 43\.json; the reasons are above/m)
  t.match(await drafts(testbed, 'send'), { code: 2, stderr: /name one draft, or say --all/ })
})

t.test('drop says where a copy lies, also of a text whose record is not known any more (CLI-10)', async t => {
  const { testbed, text } = await withRefusedDraft(t)
  await testbed.end()
  for (const name of await readdir(testbed.home, { recursive: true }))
    if (/drafts\/[^/]+\/meta\.json$/.test(name)) await writeFile(join(testbed.home, name), 'damaged')
  await testbed.mount()
  const named = async () =>
    (await namesOf(testbed, '.calcfs/drafts')).find(one => /^unknown-\w+\.json$/.test(one))
  const name = (await named()) ?? ''
  await testbed.remount()
  t.equal(await named(), name, 'it has one name at each mount')
  const { code, stdout } = await drafts(testbed, 'drop', name)
  t.equal(code, 0)
  const [, kept = ''] = /its text lies in (\/.*) for 90 days/.exec(stdout) ?? []
  t.equal(await readFile(kept, 'utf8'), text)
})

t.test('drop of a text whose PUT is under way says that it may be stored (CLI-10)', async t => {
  const testbed = await warmMount(t)
  const text = (await textOf(testbed, path)).replace('Supporting information', 'On its way')
  const held = testbed.service.hold(/^PUT \/report/, 'request')
  const saved = outcome(overwrite(testbed, path, text))
  await held.met
  const { code, stdout } = await drafts(testbed, 'drop', '42')
  held.open()
  t.equal(code, 0)
  t.match(stdout, /was sent, and the service may have stored it: look at report 42 there/)
  const [, kept = ''] = /its text lies in (\/.*) for 90 days/.exec(stdout) ?? []
  t.equal(await readFile(kept, 'utf8'), text)
  t.comment(`the save ended with ${await saved}`)
  t.match(await testbed.service.elsewhere('GET', '/report?id=42'), '"On its way"')
  await testbed.pass(3200)
  t.match(await textOf(testbed, path), 'On its way', 'and the file shows what the service has')
  t.match(await drafts(testbed, 'list'), { code: 0 })
})

t.test('of a conflict diff shows the other text, and a send after it may insist (CLI-6)', async t => {
  const testbed = await warmMount(t)
  const text = await textOf(testbed, path)
  const record = await testbed.service.elsewhere('GET', '/report?id=42')
  await testbed.service.elsewhere('PUT', '/report', record.replace('Supporting information', 'Theirs'))
  const mine = text.replace('Supporting information', 'Mine')
  t.equal(await outcome(overwrite(testbed, path, mine)), 'ESTALE')
  t.match(await drafts(testbed, 'send', '42'), { code: 1, stderr: /was changed meanwhile/ }, 'not unseen')
  const { stdout } = await drafts(testbed, 'diff', '42')
  t.match(stdout, /^--- what the service had when the save met it\n/m)
  t.match(stdout, /^- .*"Theirs"[\s\S]*^\+ .*"Mine"/m)
  t.notMatch(stdout, /^[-+].*Date/m, 'what the service sets by itself is in no diff')
  t.match(await drafts(testbed, 'send', '42'), { code: 0 })
  t.match(await testbed.service.elsewhere('GET', '/report?id=42'), '"Mine"')
})

/** Where no drive is meant. */
const unmounted = ({ calcfs, service }: KernelTestbed, ...args: string[]) =>
  calcfs(...args, '--url', service.url, '--user', 'demo')

t.test('without a daemon drafts are listed, shown, compared and sent as with one (CLI-15)', async t => {
  const testbed = await realMount(t)
  const { text, well } = await refusedOn(t, testbed)
  await testbed.kill9()
  for (const time of ['the first time', 'again']) {
    const list = await unmounted(testbed, 'drafts', 'list')
    t.match(
      list,
      { code: 7, stderr: '', stdout: /^42\.json: report 42 \(reports\/42\.json\), refused since / },
      time,
    )
  }
  t.match(await unmounted(testbed, 'drafts', 'show', '42'), { code: 0, stdout: text })
  const { stdout } = await unmounted(testbed, 'drafts', 'diff', '42')
  t.match(stdout, /^--- what the service has now\n\+\+\+ 42\.json, not saved\n/m)
  t.match(await unmounted(testbed, 'drafts', 'send', '42'), { code: 1, stderr: /42\.json is not saved: / })
  well()
  await testbed.service.sends(t, ['PUT /report'], async () => {
    t.match(await unmounted(testbed, 'drafts', 'send', '--all'), { code: 0, stdout: /report 42 is saved/ })
  })
  t.match(await testbed.service.elsewhere('GET', '/report?id=42'), 'SI of the paper')
  t.match(await unmounted(testbed, 'drafts', 'list'), { code: 0, stdout: 'everything is saved.\n' })
  await testbed.mount()
  t.notOk((await testbed.files.readdir('.calcfs/drafts')).size)
  t.match(await textOf(testbed, path), 'SI of the paper')
})

t.test('report works without a daemon, and a later mount knows what was added (CLI-15)', async t => {
  const testbed = await warmMount(t)
  await testbed.end()
  t.match(await unmounted(testbed, 'report', 'add', '43'), { code: 0 })
  t.match(await unmounted(testbed, 'report', 'renumber', '43', '1235', '1234', '1236'), {
    code: 0,
    stdout: /c2 c2\+c1/,
  })
  await testbed.mount()
  t.ok((await testbed.files.readdir('reports')).has('43.json'))
  t.match(await textOf(testbed, 'reports/43.json'), /"c2\\nc2\+c1"/)
})

t.test('CLI-11 a path below a directory where nothing is mounted any more is on no drive', async t => {
  const [one, two] = await Promise.all([warmMount(t), warmMount(t)])
  await one.end()
  const record = join(one.directory, path)
  const asked = await two.service.during(async () => {
    for (const args of [['why'], ['history'], ['cat'], ['drafts', 'show'], ['pin'], ['delete', '--yes']]) {
      const said = { code: 6, stdout: '', stderr: new RegExp(`on no calcfs drive .*${two.directory}`) }
      t.match(await one.calcfs(...args, record), said, args.join(' '))
    }
  })
  t.same(asked, [])
})

t.test(
  'calcfs status ends with 7 and names the service while an edit waits on no drive (CLI-15)',
  async t => {
    const { testbed } = await withRefusedDraft(t)
    await testbed.end()
    const { calcfs, service } = testbed
    const waits = {
      code: 7,
      stderr: new RegExp(`${service.url} as demo: an edit is not saved, and on no drive that answers`),
    }
    t.match(await calcfs('status'), waits)
    t.match(await calcfs('status', '--json'), waits)
    const send = `\`calcfs drafts send 42.json --url ${service.url} --user demo\``
    t.match(await calcfs('drafts', 'list', '--url', service.url, '--user', 'demo'), { code: 7, stdout: send })
    t.match(await calcfs('drafts', 'drop', '42', '--url', service.url, '--user', 'demo'), { code: 0 })
    t.notMatch(await calcfs('status'), waits)
  },
)

t.test(
  'an edit that met the sign-in page of a network is not saved, and not called refused (CLI-26)',
  async t => {
    const testbed = await warmMount(t)
    const { calcfs, here, service, directory } = testbed
    const text = (await textOf(testbed, path)).replace('Supporting information', 'SI of the paper')
    const portal = service.page(/./, '<html>Welcome to CafeNet</html>')
    t.not(await outcome(overwrite(testbed, path, text)), 'done')
    const { stdout } = await here('drafts', 'list', '--json')
    t.match(JSON.parse(stdout), [
      { name: '42.json', state: 'not-saved', why: /sign-in page of this network/ },
    ])
    const { stdout: why } = await calcfs('why', join(directory, path))
    t.match(why, /^Open any web page.*`calcfs drafts send 42\.json/m)
    const looked = await calcfs('doctor', service.url, '--user', 'demo')
    t.match(
      looked.stdout,
      /BAD +service .* another server answers in the place of the platform\n +→ Open any web page/,
    )
    portal()
    t.match(await here('drafts', 'send', '42'), { code: 0 })
  },
)
