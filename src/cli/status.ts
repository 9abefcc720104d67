// `calcfs status [DIR]`: what each mounted drive says of itself, and whether anything is unsaved.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { z } from 'zod'
import { fileSystemType, isDead, mountedType, mountPath, mountsOf } from '../mount/mount-point.js'
import { kernelCacheSeconds } from './assemble.js'
import { exitCodes, Stop } from './exit.js'

const statusForm = z.looseObject({
  service: z.string(),
  user: z.string(),
  mountPoint: z.string(),
  access: z.string(),
  pid: z.number(),
  /** The socket for the command line. */
  control: z.string().optional(),
  at: z.string(),
  since: z.string(),
  top: z.string(),
  answers: z.boolean(),
  awaySince: z.string().optional(),
  awayBecause: z.string().optional(),
  requests: z.number(),
  unsent: z.array(z.looseObject({ record: z.string(), state: z.string(), why: z.string().optional() })),
  state: z.string(),
})
export type Status = z.infer<typeof statusForm>

/** A drive answers this from memory; one that does not is stuck. */
const answerLimit = 15_000

export function statusCommand(): Command {
  return new Command('status')
    .description('say how the mounted drives are; exit code 7 while an edit is not saved')
    .argument('[directory]', 'one drive; default: all of yours')
    .option('--json', 'print an array of status objects')
    .action((directory: string | undefined, flags: { json?: true }) => show(directory, flags))
}

async function show(directory: string | undefined, flags: { json?: true }): Promise<void> {
  const paths = directory === undefined ? await mountsOf(fileSystemType) : [await drivePath(directory)]
  const all = await Promise.all(paths.map(readStatus))
  if (flags.json === true) console.log(JSON.stringify(all, null, 2))
  else console.log(all.length === 0 ? 'no drive is mounted.' : all.map(described).join('\n\n'))
  if (all.some(status => status.unsent.length > 0)) process.exitCode = exitCodes.unsent
}

async function drivePath(directory: string): Promise<string> {
  const path = await mountPath(resolve(directory))
  if ((await mountedType(path)) === fileSystemType) return path
  throw new Stop(
    exitCodes.mountPoint,
    `${path} is no mount of calcfs; calcfs status without a directory lists them.`,
  )
}

/** Milliseconds after which the kernel asks the drive for a text anew. */
const kernelMemory = kernelCacheSeconds * 1000 + 100

/**
 * What the drive mounted there says of itself now: a text that somebody else was shown a moment ago may be from before
 * an edit was saved, or failed to be.
 * @throws Stop where its daemon is dead or stuck
 */
export async function readStatus(path: string): Promise<Status> {
  const asked = Date.now()
  while (Date.now() < asked + answerLimit) {
    const status = await statusShown(path)
    if (Date.parse(status.at) >= asked) return status
    await new Promise(wake => setTimeout(wake, kernelMemory))
  }
  throw new Stop(
    exitCodes.failed,
    `a program keeps ${join(path, '.calcfs/status.json')} open, so only its old text can be read; close it.`,
  )
}

/** The same, perhaps a second old: what holds as long as the mount does. */
export async function statusShown(path: string): Promise<Status> {
  if (await isDead(path)) {
    throw new Stop(
      exitCodes.mountPoint,
      `the daemon of ${path} has died; calcfs unmount ${path} frees the mount point.`,
    )
  }
  const late = new Stop(exitCodes.unreachable, `the drive on ${path} does not answer.`)
  const text = await readFile(join(path, '.calcfs/status.json'), {
    encoding: 'utf8',
    signal: AbortSignal.timeout(answerLimit),
  }).catch(cause => {
    throw cause instanceof Error && cause.name === 'AbortError' ? late : cause
  })
  return statusForm.parse(JSON.parse(text))
}

function described(status: Status): string {
  const { unsent } = status
  return [
    `${status.mountPoint}: ${status.service} as ${status.user}, access ${status.access}, process ${status.pid}, since ${status.since}`,
    `  ${status.top}`,
    status.answers
      ? `  the service answers (${status.requests} requests so far)`
      : `  the service has been away since ${status.awaySince}: ${status.awayBecause}`,
    unsent.length === 0 ? '  everything is saved' : '  not saved:',
    ...unsent.map(
      ({ record, state, why }) => `    ${record} (${state})${why === undefined ? '' : `: ${why}`}`,
    ),
  ].join('\n')
}
