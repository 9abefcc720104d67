// PACK-2 a package manager that replaces or removes the program does not disturb the drives that are mounted.
import { cp, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { scratch } from '../testbed/disk/scratch.js'
import { realMount } from '../testbed/mount.js'
import { shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { watched } from '../testbed/session/watched.js'
import { textOf } from '../testbed/testbed.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A copy that can be removed; the packages are linked, and loaded before they go. */
async function copyOfProgram(): Promise<string> {
  const copy = await scratch(t)
  await mkdir(join(copy, 'dist'))
  for (const part of ['bin', 'dist/program', 'package.json'])
    await cp(join(root, part), join(copy, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

t.test('PACK-2 a drive whose program is removed reads, saves, answers and unmounts', async t => {
  const copy = await copyOfProgram()
  const testbed = await realMount(t, { settings: { access: 'edit' } }, { program: join(copy, 'bin/calcfs') })
  await rm(copy, { recursive: true })

  const report = join(testbed.directory, `reports/${ids.report}.json`)
  const text = await textOf(testbed, `reports/${ids.report}.json`)
  const title: string = JSON.parse(text).title
  t.match(
    await shell(`sed -i 's/"title": "[^"]*"/"title": "After the update"/' '${report}'`, testbed.local),
    { code: 0 },
  )
  t.match(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`), /"After the update"/)
  t.match(await testbed.calcfs('history', report), { code: 0, stdout: /saved/ })
  t.match(await testbed.calcfs('restore', `${report}@1`), { code: 0 })
  t.equal(JSON.parse(await textOf(testbed, `reports/${ids.report}.json`)).title, title)

  t.match(await shell(`echo no JSON > '${report}'`, testbed.local), { code: 0 })
  t.match(await testbed.calcfs('status', testbed.directory), { code: 7, stdout: /not saved/ })
  t.match(await testbed.calcfs('why', report), { stdout: /not JSON/ })
  t.match(await testbed.calcfs('drafts', 'drop', report, '--yes'), { code: 0 })

  t.match(await shell(`cp -r '${testbed.directory}/projects' '${testbed.local}/all'`, testbed.local), {
    code: 0,
  })
  t.match(await testbed.calcfs('pin', join(testbed.directory, 'projects')), { code: 0, stdout: /kept whole/ })
  t.match(await watched(testbed, 'metrics'), { status: 500, text: /mount it again for its metrics/ })
  t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
})
