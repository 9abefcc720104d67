// `calcfs pin`, `unpin` and `pins`: subtrees that are kept whole on this disk, for times without the service.
import type { Command } from 'commander'
import type { Control, KeptShare, PinLine, Status } from '../../drive/interface/control.js'
import { bytesText, filesText } from '../../terminal/amount.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { pathHelp } from '../control/choose.js'
import { driveCommand, printsOfDrive, wholeDriveCommand, withPath } from '../control/with-drive.js'
import { drawProgress } from './progress-line.js'

interface Flags extends JsonFlag {
  readonly wait: boolean
}

export const pinCommand = (): Command =>
  driveCommand('pin')
    .description(
      'keep a project, a calculation, a report with its calculations, or a file whole on this disk, never evicted and kept up with changes; a mounted drive goes on with it by itself, without one the next pin does',
    )
    .argument('<path>', pathHelp)
    .option('--no-wait', 'do not wait until all of it is here')
    .addOption(jsonFlag('the pin'))
    .action((path: string, flags: Flags, command: Command) =>
      withPath(command, path, async (control, at, drive) => {
        const begun = await control.pin({ path: at })
        const pin = flags.wait ? await followed(control, begun, drive.mountPoint !== undefined) : begun
        printFound(flags, pin, `${pinText(pin)}.`)
        process.exitCode = flags.wait && !isWhole(pin) ? exitCodes.failed : exitCodes.done
      }),
    )
    .examples(
      ["calcfs pin 'projects/Water splitting'", 'all of a project, for the train'],
      ['calcfs pin --no-wait ~/lab/reports/42.json', 'a report with its calculations, in the background'],
    )

/** Milliseconds between two looks, and until a pin that waits is not waited for. */
const [lookEvery, waitingAtMost] = [250, 6_000]

/** As it is once all of it is here, or as much as can be had now. */
async function followed(control: Control, begun: PinLine, isMounted: boolean): Promise<PinLine> {
  let pin = begun
  const line = drawProgress(() => ({
    files: pin.files,
    filesDone: pin.filesKept,
    bytes: pin.bytes,
    bytesDone: pin.bytesKept,
    isGrowing: pin.state === 'looking',
  }))
  let waitingSince: number | undefined
  try {
    while (unfinished.has(pin.state)) {
      waitingSince = pin.state === 'waiting' ? (waitingSince ?? Date.now()) : undefined
      if (waitingSince !== undefined && Date.now() - waitingSince > waitingAtMost) {
        const next = isMounted
          ? 'the drive goes on with it by itself'
          : `calcfs pin ${pin.path} goes on with it`
        throw new Stop(exitCodes.unreachable, `${pinText(pin)}; ${next}.`)
      }
      await new Promise(wake => setTimeout(wake, lookEvery))
      const found = (await control.pins({})).find(({ path }) => path === begun.path)
      if (found === undefined) throw new Stop(exitCodes.failed, `${begun.path} was unpinned meanwhile.`)
      pin = found
    }
    return pin
  } finally {
    line.end()
  }
}

const unfinished: ReadonlySet<PinLine['state']> = new Set(['looking', 'fetching', 'waiting'])

const isWhole = ({ state }: PinLine): boolean => state === 'whole'

export const unpinCommand = (): Command =>
  driveCommand('unpin')
    .description(
      'keep it no longer than anything else that was read; what is here goes when others need the room',
    )
    .argument('<path>', 'as calcfs pins lists it')
    .addOption(jsonFlag('{"path", "filesKept", "bytesKept"}'))
    .action((path: string, flags: JsonFlag, command: Command) =>
      withPath(command, path, async (control, at) => {
        const { path: gone, filesKept, bytesKept } = await control.unpin({ path: at })
        const told = `${gone} is not pinned any more; its ${filesText(filesKept)} (${bytesText(bytesKept)}) go when others need the room, and with calcfs cache clear, unless another pin keeps them.`
        printFound(flags, { path: gone, filesKept, bytesKept }, told)
      }),
    )
    .examples(
      ["calcfs unpin 'projects/Water splitting'", 'as calcfs pins lists it'],
      ['calcfs unpin ~/lab/reports/42.json', 'a path below a mount'],
    )

export const pinsCommand = (): Command =>
  wholeDriveCommand('pins')
    .description(
      'list what is pinned, how much of it is here, and why not all; exit code 1 while one is not whole',
    )
    .addOption(jsonFlag('an array of pins'))
    .action(
      printsOfDrive(
        control => control.pins({}),
        pins => (pins.length === 0 ? 'nothing is pinned.' : pins.map(pinText).join('\n')),
        pins => (pins.every(isWhole) ? exitCodes.done : exitCodes.failed),
      ),
    )
    .examples(['calcfs pins', 'is all of it here?'], ['calcfs pins ~/lab --json', 'the same for a script'])

/** Without a full stop. */
export function pinText({ path, state, because, ...amounts }: Status['pins'][number]): string {
  const why = because === undefined ? '' : `: ${because}`
  if (state === 'whole')
    return `${path} is kept whole: ${filesText(amounts.files)}, ${bytesText(amounts.bytes)}`
  if (state === 'gone') return `${path} is gone on the service, and nothing is kept of it${why}`
  return `${path} is ${stateWords[state] ?? state}, ${partText(amounts)}${why}`
}

const stateWords: Readonly<Record<string, string>> = {
  looking: 'being looked at',
  fetching: 'being fetched',
  waiting: 'waiting',
  incomplete: 'not whole',
}

function partText({ files, filesKept, bytes, bytesKept }: Omit<KeptShare, 'is'>): string {
  if (files === 0) return 'nothing of it is known here yet'
  if (bytes === bytesKept) return `${filesKept} of ${filesText(files)}, ${bytesText(bytes)}, are here`
  return `${filesKept} of ${filesText(files)} and ${bytesText(bytesKept)} of ${bytesText(bytes)} are here`
}
