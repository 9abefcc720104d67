// `npm run test:long`: installs what the tests need, builds, and runs the figures of trust, which take hours.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, orStop, Stop, setUp } from './setup.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const built = orStop(() => {
  setUp('test')
  if (!build()) throw new Stop('The build failed; the compiler says above where.')
  return true
})
if (built) {
  const run = [join(root, 'dist/test/long/run.js'), ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, run, { cwd: root, stdio: 'inherit' }).status ?? 1
}
