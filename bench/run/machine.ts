// Facts for the reader about the machine and the programs of a run.
import { spawnSync } from 'node:child_process'
import { arch, cpus, release, totalmem } from 'node:os'
import { commandPath } from '../peers/peers.js'

/** Cores, memory and kernel. */
export function machine(): string {
  const [first] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${first?.model.trim() ?? arch()}, ${gigabytes} GiB, Linux ${release()}`
}

const asking: Readonly<Record<string, readonly string[]>> = {
  rclone: ['--version'],
  sshfs: ['--version'],
  'mount.davfs': ['-V'],
  httpdirfs: ['--version'],
}

/** Versions of what is installed. */
export function versions(): Readonly<Record<string, string>> {
  const found: Record<string, string> = { node: process.versions.node }
  for (const [command, args] of Object.entries(asking)) {
    const path = commandPath(command)
    if (path === undefined) continue
    const { stdout, stderr } = spawnSync(path, args, { encoding: 'utf8' })
    found[command] = /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown'
  }
  return found
}
