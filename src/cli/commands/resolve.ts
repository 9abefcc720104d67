// `calcfs resolve PATH`: the id behind a path of the platform's web pages or of the drive.
import type { Command } from 'commander'
import type { Connection } from '../../app/connect.js'
import type { CallResult } from '../../drive/interface/control.js'
import { titlesIn } from '../../drive/nodes/name.js'
import { unlessAbsent } from '../../failure.js'
import { dueIn, systemClock } from '../../remote/clock.js'
import type { Remote, ServicePath } from '../../remote/remote.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { type Configured, configured } from '../../terminal/settings.js'
import { chosen } from '../control/choose.js'
import { driveAt } from '../control/daemon.js'
import { driveCommand } from '../control/with-drive.js'

export function resolveCommand(): Command {
  const command = driveCommand('resolve')
    .description('print the id behind a path: /db/<user>/…, or projects/… as on the drive')
    .argument('<path>', 'a path of the web pages or of the drive')
    .addOption(jsonFlag('an array of {"kind", "id"}'))
    .action((path: string, flags: JsonFlag) => resolve(path, flags, command))
  return withExamples(
    command,
    ['calcfs resolve /db/anna/Dyes/TS1', 'a path of the web pages'],
    ["calcfs resolve 'projects/Water splitting' --json", 'a path of the drive, for a script'],
  )
}

async function resolve(path: string, flags: JsonFlag, command: Command): Promise<void> {
  refuseOther(path)
  const { mountPoint } = await chosen(command, [])
  const found =
    mountPoint === undefined
      ? await askedAtService(path, configured(command))
      : await (await driveAt(mountPoint)).resolve({ path: `/${plainPath(path)}` })
  if (found.length === 0)
    throw new Stop(
      exitCodes.failed,
      `there is no project and no calculation at ${path}; calcfs ls projects lists what there is.`,
    )
  printFound(flags, found, found.map(({ kind, id }) => `${kind} ${id}`).join('\n'))
}

async function askedAtService(path: string, given: Configured): Promise<CallResult<'resolve'>> {
  const { connect } = await import('../../app/connect.js')
  const connection = connect(given, {
    capabilities: { sizes: {} },
    note: happened => complain(sentenceOf(happened)),
  })
  try {
    const { remote } = connection
    return await everythingAt(servicePath(path, connection), remote, given.config.deadlineMetadata)
  } finally {
    await connection.close()
  }
}

/** A project and a calculation may share a name: both are requested. */
async function everythingAt(
  path: ServicePath,
  remote: Remote,
  deadline: number,
): Promise<CallResult<'resolve'>> {
  const context = dueIn(deadline, systemClock)
  const project = await remote.resolveProject(path, context).catch(unlessAbsent)
  const calculation = await remote.resolveCalculation(path, context).catch(unlessAbsent)
  return [
    ...(project === undefined ? [] : [{ kind: 'project' as const, id: project }]),
    ...(calculation === undefined ? [] : [{ kind: 'calculation' as const, id: calculation }]),
  ]
}

/** Without slashes at its ends. */
const plainPath = (path: string): string => path.replace(/^\/+|\/+$/g, '')

/** @throws Stop for what is no path of the service */
function refuseOther(path: string): void {
  const plain = plainPath(path)
  if (/^reports\b/.test(plain)) {
    throw new Stop(
      exitCodes.usage,
      'the service resolves no reports (it answers 501); a report is named by its number.',
    )
  }
  if (/^(projects|db\/.+)(\/|$)/.test(plain)) return
  throw new Stop(
    exitCodes.usage,
    `${path} is no path of the service; it starts with /db/<user>/ or projects/. calcfs info says what a path below a mount stands for.`,
  )
}

function servicePath(path: string, { account }: Connection): ServicePath {
  const plain = plainPath(path)
  const below = /^projects(\/.*|$)/.exec(plain)
  if (below === null) return `/${plain}` as ServicePath
  return `/db/${account.user}${titlesIn(below[1] ?? '').join('/')}` as ServicePath
}
