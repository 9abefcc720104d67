// A process that carries out one command line of calcfs after another, several at a time: a Node that is not started each time.
import { AsyncLocalStorage } from 'node:async_hooks'
import http, { Agent } from 'node:http'
import { format } from 'node:util'
import { serve } from '../machine/host.js'
import type { Ran } from '../programs.js'
import type { CommandCall } from './warm-commands.js'

/** What a process of its own would have had for one command. */
interface Own {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Stream
  readonly stderr: Stream
  exitCode: number | undefined
}

interface Stream {
  readonly said: string[]
  write(text: string): boolean
  on(): void
}

function stream(): Stream {
  const said: string[] = []
  return { said, write: text => said.push(text) > 0, on: () => {} }
}

const own = new AsyncLocalStorage<Own>()
const real = process

globalThis.process = new Proxy(real, {
  get(target, name) {
    const mine = own.getStore()
    return mine !== undefined && name in mine ? Reflect.get(mine, name) : Reflect.get(target, name, target)
  },
  set(target, name, value) {
    const mine = own.getStore()
    return Reflect.set(mine !== undefined && name in mine ? mine : target, name, value)
  },
})
// Commander has Node's own process, whose streams it writes to.
for (const name of ['stdout', 'stderr'] as const) {
  const stream = real[name]
  Object.defineProperty(real, name, { get: () => own.getStore()?.[name] ?? stream })
}
console.log = (...words) => process.stdout.write(`${format(...words)}\n`)
console.error = (...words) => process.stderr.write(`${format(...words)}\n`)
// No command finds a connection of an earlier one, whose daemon may have ended.
http.globalAgent = new Agent({ keepAlive: false })

const program = new URL('../../../program/main.js', import.meta.url)
const { main }: { main: (args: readonly string[]) => Promise<void> } = await import(program.href)

async function carryOut({ args, environment }: CommandCall): Promise<Ran> {
  const mine: Own = { env: { ...environment }, stdout: stream(), stderr: stream(), exitCode: undefined }
  await own.run(mine, () => main(args))
  const [stdout, stderr] = [mine.stdout, mine.stderr].map(({ said }) => said.join(''))
  return { code: mine.exitCode ?? 0, stdout: stdout ?? '', stderr: stderr ?? '' }
}

serve<CommandCall, Ran>(call =>
  carryOut(call).catch((thrown: unknown) => ({ code: null, stdout: '', stderr: String(thrown) })),
)
real.on('disconnect', () => real.exit())
