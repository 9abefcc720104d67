// `calcfs --version --json`: the versions that a report of a fault needs: calcfs, and what it runs on.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { release } from 'node:os'
import { join } from 'node:path'
import { endWithoutSync } from '../../system/line-writer.js'
import { packageRoot, version } from '../../terminal/package-root.js'

/** As its OpenAPI document has it. */
const interfaceVersion = '1.1.0'

/** A part that is missing, or does not load, is left out. */
export interface Versions {
  readonly calcfs: string
  /** The commit this installation was built from; with `+changes` where files differed from it. */
  readonly commit?: string | undefined
  readonly node: string
  readonly koffi?: string | undefined
  readonly fuseNative?: string | undefined
  readonly kernel: string
  /** The version of the platform's interface that calcfs speaks. */
  readonly serviceApi: string
  readonly architecture: string
}

export function versions(): Versions {
  endWithoutSync()
  const load = createRequire(join(packageRoot(), 'package.json'))
  return {
    calcfs: version(),
    commit: known(() => fieldOf(join(packageRoot(), 'dist/program/build.json'), 'commit')),
    node: process.versions.node,
    koffi: known(() => load('koffi').version),
    fuseNative: known(() => fieldOf(load.resolve('fuse-native/package.json'), 'version')),
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
