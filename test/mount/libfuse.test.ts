// libfuse (`--kernel libfuse`): the traps, programs that save, and what is promised there in other words.
import t from 'tap'
import { kinds, ways } from '../programs/savers.js'
import { savesOnce, savingGround } from '../programs/saving.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, textOf } from '../testbed/testbed.js'
import { libfuseMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'
import { traps } from './traps.js'

traps(t, { kernel: 'libfuse' })

/** One of each way to bring a text into a file. */
const tried =
  /^(emacs|vim with backupcopy=auto|VS Code .*|jq beside it.*|sponge|install|gio save|mv .* open|python with a temporary file)$/
const savers = [...kinds, ...ways].filter(({ name }) => tried.test(name))

t.test(`${savers.length} programs that save, one update each`, async t => {
  const all = savers.map((kind, at) => ({ kind, titles: ['After000'], id: String(500 + at) }))
  await savesOnce(t, await savingGround(t, libfuseMount, { all, before: 'Before00' }), all)
})

t.test(
  'LIBFUSE-1 what is renamed, grown or replaced elsewhere shows within a second of a refresh',
  async t => {
    const testbed = await libfuseMount(t)
    const { service, files, directory } = testbed
    const [folder, path] = ['projects/Water splitting', `by-id/calculation/${ids.transition}/run.log`]
    let text = 'short\n'
    service.intercept(/bitstream\?id=1234&fileId=run\.log/, (response, { heard }) => {
      response.writeHead(200, { 'content-length': text.length, etag: `"${text.slice(0, 5)}"` })
      response.end(heard.method === 'HEAD' ? undefined : text)
    })
    t.equal(await textOf(testbed, path), text)
    for (text of ['a longer one\n'.repeat(450), 'other\n'.repeat(400), 'OTHER\n'.repeat(400), 'x']) {
      t.match(await testbed.calcfs('refresh', `${directory}/${path}`), { code: 0 })
      t.ok((await textOf(testbed, path)) === text, `${text.length} bytes are read whole, none of before`)
    }
    t.equal(await outcome(files.lstat(`${folder}/H2O`)), 'done')
    await service.edit('calculation', ids.product, { name: 'Water' })
    t.match(await testbed.calcfs('refresh', `${directory}/${folder}`), { code: 0 })
    await until(20_000, 'the old name is gone', async () => {
      return (await outcome(files.lstat(`${folder}/H2O`))) === 'ENOENT'
    })
    t.equal(
      await textOf(testbed, `${folder}/Water/output.cml`),
      await textOf(testbed, `by-id/calculation/${ids.product}/output.cml`),
    )
  },
)

t.test('LIBFUSE-1 a file that a program has open is not removed, and the program reads on', async t => {
  const testbed = await libfuseMount(t, { settings: { access: 'manage' } })
  const { files } = testbed
  const [report, content] = [`reports/${ids.report}.json`, 'projects/Water splitting/TS1_opt/run.log']
  const text = await textOf(testbed, report)
  const [held, other] = [await files.open(report, 'r'), await files.open(content, 'r')]
  t.equal(await outcome(files.unlink(report)), 'done')
  t.equal((await held.read(100_000, 0)).toString(), text)
  t.equal(await outcome(files.unlink(content)), 'EPERM')
  await held.close()
  await other.close()
  await testbed.pass(3_500)
  await until(10_000, 'the report is back', async () => (await outcome(files.lstat(report))) === 'done')
  t.notOk((await namesOf(testbed, 'reports')).some(name => name.startsWith('.fuse_hidden')))
  t.equal(await textOf(testbed, report), text)
})
