// A disk for a state directory whose power a test can cut: what was not fsynced is gone then.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestLifetime } from '../testbed.js'
import { within } from '../within.js'
import type { Order } from './forgetful-child.js'
import type { Cut } from './forgetful-tree.js'

const child = fileURLToPath(new URL('forgetful-child.js', import.meta.url))
/** A daemon refuses a state directory on FUSE, which may be another machine's: this one is not. */
export const calledLocal = new URL('called-local.js', import.meta.url)
/** Milliseconds. */
const patience = 20_000

export type ForgetfulDisk = Awaited<ReturnType<typeof forgetfulDisk>>

export async function forgetfulDisk(t: TestLifetime) {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-forgetful-'))
  const server = fork(child, [directory], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const ended = once(server, 'exit')
      server.disconnect()
      await within(patience, 'the end of the forgetful disk', ended).catch(() => server.kill('SIGKILL'))
    }
    await rm(directory, { recursive: true, force: true })
  })
  await within(patience, 'mounting the forgetful disk', once(server, 'message'))
  return {
    directory,
    /** The power goes and comes again; no file may be open on it. */
    async cut(how: Cut, seed: number) {
      const back = once(server, 'message')
      const order: Order = { cut: how, seed }
      server.send(order)
      await within(patience, 'the power is back', back)
    },
  }
}
