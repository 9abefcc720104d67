// `calcfs hand-over DIR`: in a systemd unit, the drive of a sandboxed daemon is mounted from outside of its sandbox; and the daemon's side of it.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { programWords, unlessMissing } from '../../system/error-code.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'

const run = promisify(execFile)

const limits = { whole: 60_000, fusermount: 10_000, pause: 50 }

/** The request of the stand-in for fusermount, which lies over it in the sandbox. */
type Request =
  | { readonly what: 'unmount' }
  | {
      readonly what: 'mount'
      /** Where libfuse waits for the descriptor of the mount. */
      readonly pid: number
      readonly descriptor: number
      readonly options: readonly string[]
    }

/** The daemon says that its drive is mounted for good. */
export const sayUp = (runtime: string): Promise<void> => writeFile(join(runtime, 'up'), '')

/** Mounts for the daemon MAINPID of the unit as often as it asks in RUNTIME_DIRECTORY, until its drive is up. @throws Stop where it ends before, or fusermount refuses */
async function handOver(directory: string): Promise<void> {
  const { RUNTIME_DIRECTORY: runtime, MAINPID: daemon } = process.env
  if (!runtime || !daemon)
    throw new Stop(
      exitCodes.usage,
      'calcfs hand-over works in a systemd unit only; systemd/calcfs-system@.service is one.',
    )
  const until = performance.now() + limits.whole
  while (!existsSync(join(runtime, 'up'))) {
    const request = await requestIn(runtime)
    if (request !== undefined) await carryOut(request, runtime, directory)
    else if (!existsSync(`/proc/${daemon}`))
      throw new Stop(exitCodes.failed, 'the daemon ended before its drive was up; its log says why.')
    else if (performance.now() > until)
      throw new Stop(
        exitCodes.unreachable,
        `the daemon has not mounted ${directory} in time; journalctl -u of its unit says why.`,
      )
    else await new Promise(wake => setTimeout(wake, limits.pause))
  }
}

async function carryOut(request: Request, runtime: string, directory: string): Promise<void> {
  await rm(join(runtime, 'request'))
  const [program, ...args] = await lineFor(request, directory)
  try {
    await run(program, args, { timeout: limits.fusermount })
  } catch (cause) {
    await answer(runtime, 'refused')
    throw new Stop(
      exitCodes.noFuse,
      `${directory} could not be mounted (${programWords(cause)}); calcfs doctor says what is missing.`,
      { cause },
    )
  }
  await answer(runtime, 'done')
}

async function lineFor(request: Request, directory: string): Promise<readonly [string, ...string[]]> {
  if (request.what === 'unmount') return ['fusermount', '-u', '-z', directory]
  const { pid, descriptor, options } = request
  await refuseStranger(pid)
  const script = join(packageRoot(), 'systemd', 'hand-over', 'with-descriptor.pl')
  const mounting = ['fusermount', '-o', options.join(','), '--', directory]
  return ['perl', script, String(pid), String(descriptor), ...mounting]
}

/** One reader waits at the other end. */
const answer = (runtime: string, word: 'done' | 'refused'): Promise<void> =>
  writeFile(join(runtime, 'answer'), `${word}\n`)

/** Options that libfuse gives to fusermount for a drive; nothing else that a sandboxed process writes reaches it. */
const option =
  /^(ro|rw|noexec|default_permissions|allow_other|max_read=\d+|subtype=calcfs|fsname=[^,\\"\s]*)$/

async function requestIn(runtime: string): Promise<Request | undefined> {
  const text = await readFile(join(runtime, 'request'), 'utf8').catch(unlessMissing)
  const [what, options = '', pid = '', descriptor = ''] = text?.split('\n') ?? []
  if (what === 'unmount') return { what }
  if (what !== 'mount' || !/^\d+$/.test(pid) || !/^\d+$/.test(descriptor)) return undefined
  const allowed = options.split(',').filter(one => option.test(one))
  return {
    what,
    pid: Number(pid),
    descriptor: Number(descriptor),
    options: ['nosuid', 'nodev', ...allowed],
  }
}

/** A descriptor is taken from processes of the same unit only. */
async function refuseStranger(pid: number): Promise<void> {
  const groupOf = (process: number | 'self'): Promise<string> => readFile(`/proc/${process}/cgroup`, 'utf8')
  if ((await groupOf(pid)) === (await groupOf('self'))) return
  throw new Stop(exitCodes.failed, `process ${pid} asks for a mount, but belongs to another unit.`)
}

export const handOverCommand = (): Command =>
  new CliCommand('hand-over')
    .description('in a systemd unit: mount the drive of its sandboxed daemon (calcfs mount --hand-over)')
    .argument('<directory>', 'where the drive is to be mounted')
    .action(handOver)
    .examples(
      ['calcfs hand-over /srv/calcfs/group', 'as ExecStartPost=+ of the unit, outside of its sandbox'],
      ['calcfs hand-over /srv/calcfs/%i', 'in a template unit; its ExecStart= is calcfs mount --hand-over'],
    )
