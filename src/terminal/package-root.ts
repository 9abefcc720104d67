// This installation: its root directory, where package.json lies, whether the program runs from its modules or bundled; and its version.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export function packageRoot(): string {
  let at = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(at, 'package.json'))) {
    if (at === dirname(at)) throw new Error('the directory that calcfs is installed in is not found')
    at = dirname(at)
  }
  return at
}

export function version(): string {
  return String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
}
