// Promise of the set-up: `npm ci` takes the lock as it stands.
import { spawnSync } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

t.test('npm ci takes the lock of this repository', async t => {
  const directory = t.testdir({})
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(root, name), join(directory, name))
  // npm's own comparison of the two; the network is not needed for it.
  const line = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit']
  const { status, stderr } = spawnSync('npm', line, { cwd: directory, encoding: 'utf8', timeout: 60_000 })
  t.equal(status, 0, stderr)
})
