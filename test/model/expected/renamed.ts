// Names of before: what another client has renamed still has its old name in paths until the drive has met the new one.
import { escapeTitle } from '../../../src/drive/nodes/name.js'
import type { Stage, Thing } from '../stage.js'
import { away } from './content.js'

/** The name of its path is one of before another client gave it its own. */
export function isRenamedElsewhere({ name, truth }: Thing): boolean {
  const own = escapeTitle(String(truth?.['name']))
  return name !== own && !name.startsWith(`${own}~`)
}

/** Where the drive may show it: by the names it was shown with last, and by those of the service, which it may meet at any time. */
export function placesOf(thing: Thing): readonly string[] {
  const names = new Set([thing.name, escapeTitle(String(thing.truth?.['name']))])
  const above = thing.parent === undefined ? ['projects'] : placesOf(thing.parent)
  return above.flatMap(place => [...names].map(name => `${place}/${name}`))
}

/**
 * What a text with a path of a calculation may end with, too: while one of them goes by a name of before, and while the
 * service is away, because what a path means is asked at each save.
 */
export function endsOfPaths(
  text: string,
  { things, isUp }: Pick<Stage, 'things' | 'isUp'>,
): readonly string[] {
  if (!/projects\/|db\//.test(text)) return []
  const isOnOldWay = things.some(one => one.kind === 'calculation' && endsOnOldWay(one).length > 0)
  return [...(isUp ? [] : away), ...(isOnOldWay ? ['EINVAL', 'ESTALE', 'ENOENT'] : [])]
}

/** What a change of it may end with, too, where its path leads through such a name (THING-3). */
export const endsOnOldWay = (thing: Thing | undefined): readonly string[] => {
  if (thing === undefined || thing.parent === undefined) return []
  return isRenamedElsewhere(thing) ? ['ESTALE', 'ENOENT'] : endsOnOldWay(thing.parent)
}
