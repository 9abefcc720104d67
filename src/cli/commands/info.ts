// `calcfs info PATH`: what a path stands for, and how much of it is on this disk.
import type { Command } from 'commander'
import type { KeptShare, PathInfo } from '../../drive/interface/control.js'
import { localText } from '../../system/time-text.js'
import { bytesText, filesText } from '../../terminal/amount.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { pathHelp } from '../control/choose.js'
import { driveCommand, withPath } from '../control/with-drive.js'

export const infoCommand = (): Command =>
  driveCommand('info')
    .description(
      'say what a path stands for: number, kind, owner, dates, its path on the web pages, what of it is on this disk, pinned or not saved',
    )
    .argument('<path>', pathHelp)
    .addOption(jsonFlag('an object with what is known'))
    .action((path: string, flags: JsonFlag, command: Command) =>
      withPath(command, path, async (control, at) => {
        const info = await control.info({ path: at })
        printFound(flags, info, linesOf(info).join('\n'))
      }),
    )
    .examples(
      ["calcfs info ~/lab/projects/'Water splitting'", 'a project below a mount'],
      ['calcfs info reports/42.json --json', 'a path of the drive, for a script'],
    )

/** The id of a part is that of the thing it belongs to. */
const partOf: Readonly<Record<string, string>> = {
  file: 'file of calculation',
  geometry: 'geometry of calculation',
  order: 'order of report',
  generated: 'generated text of project',
  shares: 'shares of project',
}

const unmade = 'new, with a number once it is saved'

function linesOf(info: PathInfo): readonly string[] {
  const { path, kind, id, title, owner, created, modified, web, size, cached, pinned, draft, stale } = info
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['kind', id === undefined ? (kind === 'new' ? unmade : kind) : `${partOf[kind] ?? kind} ${id}`],
    ['title', title],
    ['owner', owner],
    ['created', created === undefined ? undefined : localText(created)],
    ['modified', modified === undefined ? undefined : localText(modified)],
    ['web pages', web],
    ['size', size === undefined ? undefined : `${size} bytes`],
    ['on this disk', cached === undefined ? undefined : shareText(cached)],
    ['pinned', pinned === undefined || pinned === path ? pinned && 'yes' : `with ${pinned}`],
    ['draft', draft?.replaceAll('-', ' ')],
    ['old, because', stale],
  ]
  const told = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${`${name}:`.padEnd(14)}${text}`],
  )
  return [path, ...told]
}

const shareWords: Readonly<Record<KeptShare['is'], string>> = {
  whole: 'whole',
  part: 'in part',
  not: 'nothing',
  unknown: 'not known',
}

function shareText({ is, files, filesKept, bytes, bytesKept, unlisted = 0 }: KeptShare): string {
  const sizes = bytes === 0 ? '' : `, ${bytesText(bytesKept)} of ${bytesText(bytes)}`
  if (unlisted === 0) return `${shareWords[is]}: ${filesKept} of ${filesText(files)}${sizes}`
  const never = unlisted === 1 ? 'a directory was never listed' : `${unlisted} directories were never listed`
  const known = `${filesKept} of ${filesText(files)} that are known, and `
  return `${shareWords[is]}: ${files === 0 ? '' : known}${never}`
}
