// A home directory with everything a daemon keeps: contents, a ledger, known reports, history, and texts that were not saved.
import * as fs from 'node:fs/promises'
import { realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { outcome, overwrite, type TestLifetime } from '../../testbed/testbed.js'
import { chance } from '../chance.js'

export type Template = Awaited<ReturnType<typeof makeTemplate>>

const sizes = [0, 1, 100, 4_096, 70_000, 300_000, 1_000_000, 2_500_000]

export async function makeTemplate(scope: TestLifetime) {
  const bulk = chance(7).bytes(10_000_000)
  const files = Object.fromEntries(
    sizes.map(size => [`data-${size}.bin`, bulk.subarray(size, size * 2 || 0)]),
  )
  const drive = await realMount(scope, {
    xattrs: 'off',
    adds: seed => seed.addCalculation({ id: '2000', name: 'Many', project: ids.water, files }),
  })
  const { service } = drive
  /** Paths below the drive, and what is there as long as the service has it. */
  const contents = new Map<string, Buffer>()
  for (const name of Object.keys(files))
    contents.set(`projects/Water splitting/Many/${name}`, Buffer.from(files[name] ?? ''))
  for (const path of [...contents.keys(), `reports/${ids.report}.json`, `reports/${ids.profile}.json`])
    await drive.files.readFile(path)
  for (const name of ['TS1_opt.xyz', 'run.log']) {
    const path = `projects/Water splitting/TS1_opt/${name}`
    contents.set(path, await drive.files.readFile(path))
  }

  /** Words of each text that was not saved, and the path it was written to. */
  const drafts = new Map<string, string>()
  const refused = service.refuse(/^(PUT|POST) \/(report|project)/, 500, '{"error":"no"}')
  const texts: Readonly<Record<string, string>> = {
    [`reports/${ids.report}.json`]: '{"title": "draft-one is no JSON',
    [`reports/${ids.profile}/order.txt`]: 'draft-two is no calculation\n',
    'reports/new-three.json': '{"name": "draft-three", "title": "draft-three", "reportType": "1"}\n',
  }
  for (const [path, text] of Object.entries(texts)) {
    // A save that fails is what makes a draft.
    await outcome(overwrite(drive, path, text))
    drafts.set(/draft-\w+/.exec(text)?.[0] ?? '', path)
  }
  await drive.terminate()
  refused()
  const home = `${drive.home}-template`
  await fs.cp(drive.home, home, {
    recursive: true,
    verbatimSymlinks: true,
    filter: path => !path.endsWith('/drive'),
  })
  scope.teardown(() => fs.rm(home, { recursive: true, force: true }))
  return { service, home, contents, drafts }
}
