// `calcfs cache`: shows, clears and verifies the contents kept on this disk.
import { Command } from 'commander'
import type { Control } from '../../drive/interface/control.js'
import { type Example, withExamples } from '../../terminal/examples.js'
import { exitCodes } from '../../terminal/exit.js'
import { jsonFlag, printJson } from '../../terminal/json.js'
import { driveCommand, withDrive } from '../control/with-drive.js'

interface Flags {
  readonly json?: true
}

export function cacheCommand(): Command {
  const command = new Command('cache').description(
    'the contents kept on this disk, of a mounted drive, or of the configured service where none is mounted; never drafts',
  )
  command.addCommand(
    part(
      'info',
      'show how many files are kept, how many bytes they take, and where',
      async (control, flags) => {
        const info = await control.cacheInfo({})
        const text = `${files(info.files)} of contents, ${info.bytes} of ${info.limitBytes} bytes, in ${info.directory}`
        print(flags, info, `${text}${info.downloads === 0 ? '' : `; ${info.downloads} being downloaded`}`)
      },
      [
        ['calcfs cache info', 'of the one drive that is mounted'],
        ['calcfs cache info --mount ~/lab --json', 'for a script'],
      ],
    ),
  )
  command.addCommand(
    part(
      'clear',
      'drop every kept content and every size; drafts, history and settings stay',
      async (control, flags) => {
        const gone = await control.cacheClear({})
        print(
          flags,
          gone,
          `${files(gone.files)} dropped, ${gone.bytes} bytes; each is downloaded again when it is read, once the kernel keeps no page of it either`,
        )
      },
      [
        ['calcfs cache clear', 'make room on the disk'],
        ['calcfs cache clear --mount ~/lab', 'of one of several drives'],
      ],
    ),
  )
  command.addCommand(
    part(
      'verify',
      'check every kept content against its checksums; exit code 1 where any is damaged',
      async (control, flags) => {
        const found = await control.cacheVerify({})
        const damaged =
          found.damaged === 0
            ? 'all as they were downloaded'
            : `${found.damaged} damaged and dropped: each is downloaded again when it is read`
        print(flags, found, `${files(found.checked)} checked, ${damaged}`)
        if (found.damaged > 0) process.exitCode = exitCodes.failed
      },
      [
        ['calcfs cache verify', 'after a crash of the machine or its disk'],
        ['calcfs cache verify --json', 'how many were checked, and how many were damaged'],
      ],
    ),
  )
  return command
}

function part(
  name: string,
  says: string,
  work: (control: Control, flags: Flags) => Promise<void>,
  examples: readonly [Example, Example],
): Command {
  const command = driveCommand(name)
    .description(says)
    .addOption(jsonFlag('an object'))
    .action((flags: Flags) => withDrive(command, control => work(control, flags)))
  return withExamples(command, ...examples)
}

const files = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`

function print(flags: Flags, found: object, text: string): void {
  if (flags.json === true) printJson(found)
  else console.log(`${text}.`)
}
