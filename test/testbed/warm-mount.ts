// The ground with a real kernel and no daemon of its own: one process serves all drives of a test file, and time passes there as a test wants.
import { fileURLToPath } from 'node:url'
import { mountPatience } from './daemon.js'
import { Host } from './machine/host.js'
import { type KernelTestbed, mountPlace, type SharedParts } from './mount.js'
import { roomy, type TestbedOptions, type TestLifetime } from './testbed.js'
import { within } from './within.js'

export type HostWork =
  | {
      readonly verb: 'mount'
      readonly directory: string
      readonly flags: Readonly<Record<string, string | readonly string[]>>
      readonly environment: Readonly<Record<string, string>>
    }
  | { readonly verb: 'end'; readonly directory: string }
  | { readonly verb: 'pass'; readonly directory: string; readonly milliseconds: number }
  /** Answered with where the work of this directory has come to. */
  | { readonly verb: 'stage'; readonly directory: string }

export interface HostAnswer {
  readonly failed?: string
  readonly stage?: string
}

/** Milliseconds in which a busy daemon hears of what a program has closed: the kernel waits for no answer to that. */
const releaseMs = 400
/** Milliseconds after which nothing is answered from what the kernel has kept of an earlier answer. */
const kernelCachesMs = 1_200

/** The same in the process that serves the drives of a test file. */
export interface WarmTestbed extends KernelTestbed {
  /** Serves the drive once more after its end, with what it has kept. */
  mount(): Promise<void>
  /** As at an unmount. */
  end(): Promise<void>
}

/** The same through libfuse. */
export const libfuseMount: typeof warmMount = (t, wish = {}, shared = {}) =>
  warmMount(t, { ...wish, settings: { ...wish.settings, kernel: 'libfuse' } }, shared)

/** A drive on a real mount; what the daemon's process itself promises is tried on `realMount`. */
export async function warmMount(
  t: TestLifetime,
  wish: TestbedOptions = {},
  shared: SharedParts = {},
): Promise<WarmTestbed> {
  const { environment, logFile, parts, removed } = await mountPlace(t, wish, shared)
  const { service, directory } = parts
  const flags = { url: service.url, user: 'demo', logLevel: 'info', logFile, ...roomy, ...wish.settings }

  const mount = () =>
    ask({ verb: 'mount', directory, flags, environment }).catch((late: Error) => {
      throw new Error(`${late.message}; the service heard ${service.heard.join(', ') || 'nothing'}`)
    })
  const end = () => ask({ verb: 'end', directory })
  t.teardown(async () => {
    await end()
    await removed()
  })
  await mount()
  return {
    ...parts,
    mount,
    end,
    async remount() {
      await end()
      await mount()
    },
    async pass(milliseconds) {
      const released = Math.min(milliseconds, releaseMs)
      await new Promise(wake => setTimeout(wake, released))
      const awaited = Math.min(milliseconds - released, kernelCachesMs)
      await ask({ verb: 'pass', directory, milliseconds: milliseconds - released - awaited })
      await new Promise(wake => setTimeout(wake, awaited))
    },
  }
}

const host = new Host<HostWork, HostAnswer>(
  fileURLToPath(new URL('./drive-host.js', import.meta.url)),
  code => ({ failed: `the host ended with ${code}` }),
)

/** @throws Error with what the host says of it, or, where it does not answer in time, how far it has come */
async function ask(work: HostWork): Promise<void> {
  const what = `${work.verb} ${work.directory}`
  const { failed } = await within(mountPatience, what, host.ask(work)).catch(async (late: Error) => {
    const stage = await within(
      stagePatience,
      'its host',
      host.ask({ verb: 'stage', directory: work.directory }),
    ).then(
      ({ stage }) => stage,
      (silent: Error) => silent.message,
    )
    throw new Error(`${late.message}: ${stage}`)
  })
  if (failed !== undefined) throw new Error(`${work.verb}: ${failed}`)
}

/** Milliseconds in which a host that is not stuck says what it does. */
const stagePatience = 5_000
