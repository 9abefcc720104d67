// The version of this installation, as its package.json has it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.js'

export function version(): string {
  return String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
}
