// Mounts of a fleet in processes of their own.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { TestLifetime } from '../testbed.js'
import type { FleetBed } from './fleet.js'

/** So many mounts in one process, ready to read all below the path once it is told to. */
export async function readerProcess(
  t: TestLifetime,
  { shared }: Pick<FleetBed, 'shared'>,
  { nodes, path }: { readonly nodes: number; readonly path: string },
) {
  const asked = JSON.stringify({ settings: shared, nodes, path })
  const child: ChildProcess = fork(new URL('reader-child.js', import.meta.url), [asked], {
    stdio: 'inherit',
    execArgv: [],
  })
  const gone = once(child, 'exit')
  const [{ home }] = (await Promise.race([once(child, 'message'), gone.then(failed)])) as [{ home: string }]
  t.teardown(async () => {
    child.kill('SIGKILL')
    await gone
    await rm(home, { recursive: true, force: true })
  })
  return {
    read: () => void child.send('read'),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function failed(): never {
  throw new Error('the process has ended')
}
