// Variables of the environment that calcfs reads and that are no settings; and those that look like them and are neither.
import { nearestName } from './nearest.js'
import type { Environment } from './places.js'
import { settingNames, variableName } from './settings.js'

/** With what they are; the first two have a flag. */
export const otherVariables: Readonly<Record<string, string>> = {
  CALCFS_CONFIG: 'the configuration file, as --config',
  CALCFS_PROFILE: 'the profile of the configuration file, as --profile',
  CALCFS_PASSWORD: 'the password, which a daemon does not keep in its environment',
  CALCFS_TOKEN: 'a ready token in place of a password; neither does it keep this one',
}

/** Seeds and sizes of calcfs's own tests and benchmarks, whose daemons inherit them. */
const ofTests = /^CALCFS_(TEST|LONG|BENCH|MODEL|WALK|STORM|PAIRS|INTERLEAVINGS)/

/** A sentence for each variable that begins as one of calcfs and is none: mistyped, or of another version. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = [...settingNames.map(variableName), ...Object.keys(otherVariables)]
  return Object.keys(environment)
    .filter(name => name.startsWith('CALCFS_') && !known.includes(name) && !ofTests.test(name))
    .map(name => `the variable ${name} is no setting, and not used${nearest(name, known)}.`)
}

/** What they all begin with makes none of them alike. */
function nearest(name: string, known: readonly string[]): string {
  const bare = (whole: string): string => whole.slice('CALCFS_'.length)
  const found = nearestName(bare(name), known.map(bare))
  return found === undefined ? '' : `; the nearest is 'CALCFS_${found}'`
}
