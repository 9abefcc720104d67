// The scene of a kill: files that programs have open, calls that wait, and requests held up where the daemon shall die.
import type { MountTestbed } from '../../testbed/mount.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { lines } from '../../testbed/service.js'
import type { OpenedFile } from '../../testbed/testbed.js'

export type Scene = ReturnType<typeof sceneOn>

export function sceneOn(testbed: MountTestbed) {
  const { service } = testbed
  const files: OpenedFile[] = []
  const waiting: Promise<unknown>[] = []
  const mends: (() => void)[] = []

  /** A call that waits on the daemon when it dies. Its answer is ignored: on a dead mount every call fails, and so it should. */
  const inTheAir = (work: Promise<unknown>): void => void waiting.push(work.catch(() => {}))

  /** Opens as a program does; a failure of the handle after the kill is ignored. */
  async function open(path: string, how: 'w' | 'r+'): Promise<OpenedFile> {
    const file = await testbed.files.open(path, how)
    files.push(file)
    return file
  }

  return {
    open,
    /** The program that has written all of its text into the file waits in close(2), perhaps for ever. */
    async writeAndClose(path: string, text: string): Promise<{ readonly closed: Promise<void> }> {
      const file = await open(path, 'w')
      await file.write(text, 0)
      const closed = file.close()
      inTheAir(closed)
      return { closed: closed.catch(() => {}) }
    },
    inTheAir,
    /**
     * Holds a matching request up, before the service has it or after it was carried out; resolves once it is held.
     * With `once` only requests that come after such a one are held.
     */
    held: (which: RegExp, when: 'before' | 'after', once?: RegExp): Promise<void> =>
      new Promise<void>(reached => {
        const start = service.heard.length
        const hold: Interceptor = async (_, { carryOut }) => {
          const isDue = once === undefined || lines(service.heard.slice(start)).some(line => once.test(line))
          const answer = when === 'after' || !isDue ? await carryOut() : undefined
          if (isDue) reached()
          else answer?.()
        }
        mends.push(service.intercept(which, hold))
      }),
    /** After the kill: requests pass again, and every file is closed. */
    async cleanUp(): Promise<void> {
      for (const mend of mends) mend()
      await Promise.all(waiting)
      for (const file of files) await file.close().catch(() => {})
    },
  }
}

/** A save is held up there, the daemon is killed, and comes up again. */
export async function killedDuring(
  testbed: MountTestbed,
  which: Parameters<Scene['held']>,
  path: string,
  text: string,
): Promise<void> {
  const scene = sceneOn(testbed)
  const reached = scene.held(...which)
  await scene.writeAndClose(path, text)
  await reached
  await testbed.kill9()
  await scene.cleanUp()
  await testbed.mount()
}
