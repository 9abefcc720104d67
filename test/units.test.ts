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

t.test(
  'the unit of a user has no mount namespace of its own, in which its mount would be hidden',
  async t => {
    const hiding =
      /^(ProtectSystem|ProtectHome|PrivateTmp|PrivateDevices|PrivateMounts|ReadOnlyPaths|BindReadOnlyPaths|DynamicUser|NoNewPrivileges)=/m
    t.notMatch(readFileSync(join(directory, 'calcfs@.service'), 'utf8'), hiding)
  },
)

t.test('what the unit of the system mounts and unmounts, it does outside of its sandbox', async t => {
  const unit = readFileSync(join(directory, 'calcfs-system@.service'), 'utf8')
  const outside = unit.match(/^Exec(StartPost|Stop|StopPost)=.*$/gm) ?? []
  t.equal(outside.length, 3)
  for (const line of outside) t.match(line, /=\+-?\/usr\/bin\/nsenter --target 1 --mount /)
})
