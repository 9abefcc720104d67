// The systemd units are accepted by systemd itself, and say what a FUSE mount needs.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { exitCodes } from '../src/terminal/exit.js'

const directory = resolve(fileURLToPath(import.meta.url), '../../../systemd')
const managers = [
  ['calcfs@.service', '--user'],
  ['calcfs-system@.service', '--system'],
] as const
const units = managers.map(([unit]) => unit)

t.test('systemd-analyze verify has nothing to say', async t => {
  const runtime = mkdtempSync(join(tmpdir(), 'calcfs-units-'))
  t.teardown(() => rmSync(runtime, { recursive: true }))
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime }
  for (const [unit, manager] of managers) {
    const args = [manager, 'verify', join(directory, unit)]
    const { stderr } = await promisify(execFile)('systemd-analyze', args, { env, timeout: 30_000 })
    // It loads units of this machine too, and complains of those.
    t.same(
      stderr.split('\n').filter(line => line.includes('calcfs@') || line.includes('calcfs-system@')),
      [],
      unit,
    )
  }
})

t.test('a restart is tried only where it can help', async t => {
  for (const unit of units) {
    const { usage, signIn, noFuse } = exitCodes
    t.match(
      readFileSync(join(directory, unit), 'utf8'),
      `RestartPreventExitStatus=${usage} ${signIn} ${noFuse}\n`,
      unit,
    )
  }
})

t.test('no unit hides its mount in a namespace of its own', async t => {
  const hiding =
    /^(ProtectSystem|ProtectHome|PrivateTmp|PrivateDevices|PrivateMounts|ReadOnlyPaths|DynamicUser)=/m
  for (const unit of units) t.notMatch(readFileSync(join(directory, unit), 'utf8'), hiding, unit)
})
