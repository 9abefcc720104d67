// `calcfs resolve PATH`: the id behind a path of the platform's web pages or of the drive.
import { Command } from 'commander'
import type { Connection } from '../../app/connect.js'
import { titlesIn } from '../../drive/nodes/name.js'
import { unlessAbsent } from '../../failure.js'
import { dueIn, systemClock } from '../../remote/clock.js'
import type { Remote, ServicePath } from '../../remote/remote.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { jsonFlag, printJson } from '../../terminal/json.js'
import { type Configured, configured, withSettings } from '../../terminal/settings.js'

interface Resolved {
  readonly kind: 'project' | 'calculation'
  readonly id: string
}

export function resolveCommand(): Command {
  const command = new Command('resolve')
    .description('print the id behind a path: /db/<user>/…, or projects/… as on the drive')
    .argument('<path>', 'a path of the web pages or of the drive')
    .addOption(jsonFlag('an array of {"kind", "id"}'))
    .action((path: string, options: { json?: true }) => resolve(path, options, configured(command)))
  withExamples(
    command,
    ['calcfs resolve /db/anna/Dyes/TS1', 'a path of the web pages'],
    ["calcfs resolve 'projects/Water splitting' --json", 'a path of the drive, for a script'],
  )
  return withSettings(command, 'service')
}

async function resolve(path: string, options: { json?: true }, given: Configured): Promise<void> {
  const { connect } = await import('../../app/connect.js')
  const connection = connect(given, { capabilities: { sizes: {} }, note: console.error })
  const deadline = given.config.deadlineMetadata
  try {
    const found = await everythingAt(servicePath(path, connection), connection.remote, deadline)
    if (found.length === 0)
      throw new Stop(
        exitCodes.failed,
        `there is no project and no calculation at ${path}; calcfs ls projects lists what there is.`,
      )
    if (options.json === true) printJson(found)
    else console.log(found.map(({ kind, id }) => `${kind} ${id}`).join('\n'))
  } finally {
    await connection.close()
  }
}

/** A project and a calculation may share a name: both are requested. */
async function everythingAt(
  path: ServicePath,
  remote: Remote,
  deadline: number,
): Promise<readonly Resolved[]> {
  const context = dueIn(deadline, systemClock)
  const project = await remote.resolveProject(path, context).catch(unlessAbsent)
  const calculation = await remote.resolveCalculation(path, context).catch(unlessAbsent)
  return [
    ...(project === undefined ? [] : [{ kind: 'project' as const, id: project }]),
    ...(calculation === undefined ? [] : [{ kind: 'calculation' as const, id: calculation }]),
  ]
}

function servicePath(path: string, { account }: Connection): ServicePath {
  const plain = path.replace(/\/+$/, '')
  if (/^\/?reports\b/.test(plain)) {
    throw new Stop(
      exitCodes.usage,
      'the service resolves no reports (it answers 501); a report is named by its number.',
    )
  }
  const below = /^\/?projects(\/.*|$)/.exec(plain)
  if (below !== null) return `/db/${account.user}${titlesIn(below[1] ?? '').join('/')}` as ServicePath
  if (/^\/?db\//.test(plain)) return `/${plain.replace(/^\//, '')}` as ServicePath
  throw new Stop(
    exitCodes.usage,
    `${path} is no path of the service; it starts with /db/<user>/ or projects/. calcfs info says what a path below a mount stands for.`,
  )
}
