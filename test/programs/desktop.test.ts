// A GTK editor on a screen: it saves a report twice, and makes one with its save dialog, without a question.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type Desktop, desktop } from '../testbed/desktop.js'
import type { KernelTestbed } from '../testbed/mount.js'
import type { ReceivedRequest } from '../testbed/proxy.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { namesOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until } from '../testbed/within.js'

/** From then on the drive shows what the service made of a text; no editor may take that for another's change. */
const leaseMs = 2500

t.setTimeout(180_000)

t.test('Mousepad saves a report as often as one presses Ctrl+S', async t => {
  const testbed = await warmMount(t)
  const screen = await desktop(t, testbed.local)
  await testbed.service.sends(t, [], () =>
    open(screen, join(testbed.directory, `reports/${ids.report}.json`)),
  )

  // The fourth line is `  "title": "Supporting information",`
  await screen.keys('ctrl+Home', 'Down', 'Down', 'Down', 'End', 'Left', 'Left')
  let title = 'Supporting information'
  for (const more of [' once', ' twice']) {
    title += more
    const sent = await saves(testbed, screen, { typed: more, id: ids.report, title })
    t.same(writes(sent), ['PUT /report'], more)
  }
  await close(screen)
  t.same(await namesOf(testbed, 'reports'), ['42', '42.json', 'INDEX.tsv', 'README.txt', 'by-name'])
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
})

t.test('its save dialog makes a report, and Ctrl+S then changes that one', async t => {
  const testbed = await warmMount(t)
  const screen = await desktop(t, testbed.local)
  const start = join(testbed.local, 'start.json')
  await writeFile(start, '{"name": "Made", "reportType": "1",\n"title": "By a dialog"}\n')
  await open(screen, start)
  await testbed.service.sends(t, ['POST /report'], async () => {
    await screen.keys('ctrl+shift+s')
    await screen.untilOneOf(/Save As/)
    await screen.keys('ctrl+a')
    await screen.type(join(testbed.directory, 'reports/new-made.json'))
    await screen.keys('Return')
    await screen.until(/^[^*]*new-made\.json/)
    await testbed.pass(leaseMs)
  })
  const [id = ''] = await namesOf(testbed, 'reports')
  t.same(await namesOf(testbed, 'reports'), [id, `${id}.json`, 'INDEX.tsv', 'README.txt', 'by-name'])

  await screen.keys('ctrl+Home', 'Down', 'End', 'Left', 'Left')
  const sent = await saves(testbed, screen, { typed: ' again', id, title: 'By a dialog again' })
  t.same(writes(sent), ['PUT /report'])
  await close(screen)
  t.same(await namesOf(testbed, 'reports'), [id, `${id}.json`, 'INDEX.tsv', 'README.txt', 'by-name'])
})

const open = (screen: Desktop, file: string): Promise<void> =>
  screen.start('mousepad', ['--disable-server', file], /\.json/)

/** Types, saves, and waits until the drive shows the service's own wording: what was asked of the service meanwhile. */
function saves(
  { service, pass }: KernelTestbed,
  screen: Desktop,
  edit: { typed: string; id: string; title: string },
): Promise<readonly ReceivedRequest[]> {
  return service.during(async () => {
    await screen.type(edit.typed)
    await screen.until(/^\*/)
    await screen.keys('ctrl+s')
    await screen.until(/^[^*]*\.json/)
    await until(10_000, edit.title, async () => {
      const record = await service.elsewhere('GET', `/report?id=${edit.id}`)
      return JSON.parse(record).title === edit.title
    })
    await pass(leaseMs)
  })
}

async function close(screen: Desktop): Promise<void> {
  await screen.keys('ctrl+q')
  await screen.ended()
}
