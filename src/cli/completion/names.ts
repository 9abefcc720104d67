// Names that a shell asks for at TAB: mount points, drafts, profiles. What does not answer at once is left out.
import { configFiles } from '../../config/config.js'
import { drivesOfUser } from '../../mount/mount-point.js'
import { driveAt } from '../control/find-daemon.js'
import type { Candidate, NameSource } from './complete.js'

/** Milliseconds that a person waits for after TAB. */
const patience = 1_000

export const namesHere: NameSource = async (kind, flags) => {
  const late = new Promise<readonly Candidate[]>(resolve => setTimeout(resolve, patience, []).unref())
  const found = Promise.race([late, sources[kind](flags)])
  const listed = await found.catch(() => [])
  return listed.filter(({ value }) => !/\p{Cc}/u.test(value))
}

type Flags = Readonly<Record<string, string>>

const sources = {
  async drives(_: Flags): Promise<readonly Candidate[]> {
    return (await drivesOfUser()).map(({ path, source }) => ({ value: path, says: source }))
  },

  async drafts(flags: Flags): Promise<readonly Candidate[]> {
    const named = flags['--mount']
    const mounts = named === undefined ? (await drivesOfUser()).map(({ path }) => path) : [named]
    const all = await Promise.all(mounts.map(path => draftsAt(path).catch(() => [])))
    return all.flat()
  },

  async profiles(flags: Flags): Promise<readonly Candidate[]> {
    const asked = flags['--config'] ?? (process.env['CALCFS_CONFIG'] || undefined)
    return configFiles(asked, process.env).flatMap(({ path, profiles }) =>
      Object.entries(profiles).map(([value, { url = path }]) => ({ value, says: String(url) })),
    )
  },
}

async function draftsAt(path: string): Promise<readonly Candidate[]> {
  const drafts = await (await driveAt(path)).drafts({})
  return drafts.map(({ name, record, state }) => ({ value: name, says: `${record}, ${state}` }))
}
