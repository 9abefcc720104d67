// A Remote that sends no change once its mount was taken away and another daemon has mounted the same directory.
import { randomUUID } from 'node:crypto'
import { Failure } from '../failure.js'
import type { Remote } from '../remote/remote.js'
import type { Ledger } from './ledger/ledger.js'

export interface OwnMountParts {
  /** Shared with every daemon that mounts the directory for the same account. */
  readonly state: Ledger
  readonly mountPoint: string
  /** Whether this daemon's mount is still there. */
  readonly isMounted: () => Promise<boolean>
}

export interface OwnMount {
  readonly remote: Remote
  /** Called once the directory is mounted. */
  readonly claim: () => void
}

const namespace = 'mounted last'

/**
 * The same remote. A daemon that stood still would take what the next
 * mount there has shown and saved for its own, and send an older text over it.
 */
export function withOwnMount(remote: Remote, { state, mountPoint, isMounted }: OwnMountParts): OwnMount {
  const own = randomUUID()
  let claimed = false

  async function isReplaced(): Promise<boolean> {
    return claimed && state.get(namespace, mountPoint) !== own && !(await isMounted())
  }

  const guarded =
    <Asked extends unknown[], Answer>(change: (...asked: Asked) => Promise<Answer>) =>
    async (...asked: Asked): Promise<Answer> => {
      if (await isReplaced())
        throw new Failure(
          'conflict',
          `another daemon has mounted ${mountPoint} since: this one sends nothing any more`,
        )
      return change(...asked)
    }

  const changes: Partial<Remote> = {
    createProject: guarded(remote.createProject),
    updateProject: guarded(remote.updateProject),
    deleteProject: guarded(remote.deleteProject),
    createShare: guarded(remote.createShare),
    updateShare: guarded(remote.updateShare),
    deleteShare: guarded(remote.deleteShare),
    createReport: guarded(remote.createReport),
    updateReport: guarded(remote.updateReport),
    deleteReport: guarded(remote.deleteReport),
    setReportCalculations: guarded(remote.setReportCalculations),
    updateCalculation: guarded(remote.updateCalculation),
    deleteCalculation: guarded(remote.deleteCalculation),
  }
  return {
    remote: { ...remote, ...changes },
    claim() {
      state.set(namespace, mountPoint, own)
      state.flush()
      claimed = true
    },
  }
}
