// Names of before: what another client has renamed still has its old name in paths until the drive has met the new one.
import { escapeTitle } from '../../../src/drive/nodes/name.js'
import type { Thing } from '../stage.js'

/** The name of its path is one of before another client gave it its own. */
export function isRenamedElsewhere({ name, truth }: Thing): boolean {
  const own = escapeTitle(String(truth?.['name']))
  return name !== own && !name.startsWith(`${own}~`)
}

/** What a text with a path of a calculation may end with, too, while one of them goes by a name of before (THING-8). */
export const endsOfPaths = (text: string, things: readonly Thing[]): readonly string[] =>
  /projects\/|db\//.test(text) &&
  things.some(one => one.kind === 'calculation' && endsOnOldWay(one).length > 0)
    ? ['EINVAL', 'ESTALE', 'ENOENT']
    : []

/** What a change of it may end with, too, where its path leads through such a name (THING-8). */
export const endsOnOldWay = (thing: Thing | undefined): readonly string[] => {
  if (thing === undefined || thing.parent === undefined) return []
  return isRenamedElsewhere(thing) ? ['ESTALE', 'ENOENT'] : endsOnOldWay(thing.parent)
}
