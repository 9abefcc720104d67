// The version of this installation, as its package.json has it.
import { readFileSync } from 'node:fs'

const manifest = new URL('../../../package.json', import.meta.url)

export function version(): string {
  return String(JSON.parse(readFileSync(manifest, 'utf8')).version)
}
