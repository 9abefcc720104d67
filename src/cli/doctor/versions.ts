// `calcfs --version --json`: the versions that a report of a fault needs: calcfs, and what it runs on.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { release } from 'node:os'
import { join } from 'node:path'
import { packageRoot, version } from '../../terminal/package-root.js'

/** As its OpenAPI document has it. */
const interfaceVersion = '1.1.0'

/** A part that is missing is left out. */
export function versions(): object {
  const { resolve } = createRequire(join(packageRoot(), 'package.json'))
  // The packages do not let their package.json be resolved.
  const versionOf = (name: string) =>
    known(() => fieldOf(resolve(name).replace(RegExp(`(?<=/${name}/).*`), 'package.json'), 'version'))
  return {
    calcfs: version(),
    // The one this installation was built from; with `+changes` where files differed from it.
    commit: known(() => fieldOf(join(packageRoot(), 'dist/program/build.json'), 'commit')),
    node: process.versions.node,
    koffi: versionOf('koffi'),
    fuseNative: versionOf('fuse-native'),
    kernel: release(),
    serviceApi: interfaceVersion,
    architecture: process.arch,
  }
}

function fieldOf(file: string, field: string): string | undefined {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))[field]
  return typeof value === 'string' ? value : undefined
}

/** Undefined where a part is not there: this is asked where an installation is broken, and `calcfs doctor` says how to mend it. */
function known(look: () => string | undefined): string | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
