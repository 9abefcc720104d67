// The manual pages, made of the table of settings, the commands, and the topics of `calcfs help`.
import type { Command } from 'commander'
import { otherVariables } from '../../config/config.js'
import { flagName, settings, variableName } from '../../config/settings.js'
import { exampleLines, examplesOf } from '../../terminal/examples.js'
import { exitCodes } from '../../terminal/exit.js'
import { isUnlisted } from '../../terminal/settings.js'
import { groups, groupTitles, settingsIn, textTopics, topicText } from '../help/topics.js'
import { optionName } from '../mount/mount-options.js'
import {
  argumentWords,
  filled,
  flagItem,
  heading,
  namedCommands,
  paragraph,
  safe,
  section,
  typed,
  word,
} from './mdoc.js'

/** File names, and their texts. */
export function manualPages(program: Command, date: Date): Readonly<Record<string, string>> {
  const pages = {
    'calcfs.1': programPage(program, date),
    'calcfs.conf.5': configurationPage(date),
    'mount.calcfs.8': mountPage(date),
  }
  return Object.fromEntries(
    Object.entries(pages).map(([name, lines]) => [name, `${filled(lines).join('\n')}\n`]),
  )
}

const list = (kind: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [`.Bl ${kind}`, ...items, '.El']

function programPage(program: Command, date: Date): readonly string[] {
  return [
    ...heading({
      name: 'calcfs',
      section: 1,
      says: 'a computational-chemistry data platform as a drive',
      date,
    }),
    '.Sh SYNOPSIS',
    '.Nm calcfs',
    '.Op Fl \\-config Ar file',
    '.Op Fl \\-profile Ar profile',
    '.Ar command',
    '.Op Ar argument ...',
    '.Sh DESCRIPTION',
    '.Nm',
    'mounts the projects, calculations and reports of a platform as a drive, and asks and steers the drives that are mounted.',
    'Projects are directories, calculations are directories with their files, reports are JSON files: saving one changes the service.',
    '.Pp',
    'The flags of every command:',
    ...list('-tag -width Ds', program.createHelp().visibleOptions(program).flatMap(flagItem)),
    '.Sh COMMANDS',
    ...namedCommands(program).flatMap(([name, command]) => commandLines(name, command)),
    '.Sh JSON',
    'With',
    '.Fl \\-json',
    'a command prints one document to standard output and nothing else there.',
    'Names are in camelCase, times in ISO 8601 and UTC, sizes in bytes, durations in milliseconds, ids are texts; what is not known is left out.',
    'Errors go to standard error and into the exit status as without it.',
    ...textTopics.flatMap(topic => section(topicText(topic))),
    '.Sh ENVIRONMENT',
    'Every setting of',
    '.Xr calcfs.conf 5',
    'is a variable, too:',
    '.Ev CALCFS_TTL_LISTING',
    'is',
    '.Fl \\-ttl\\-listing .',
    'Besides there are:',
    ...list(
      '-tag -width Ds',
      Object.entries(otherVariables).flatMap(([name, says]) => [`.It Ev ${name}`, ...paragraph(`${says}.`)]),
    ),
    ...files,
    '.Sh EXIT STATUS',
    ...list(
      '-tag -width Ds',
      Object.entries(exitSays).flatMap(([name, says]) => [
        `.It ${exitCodes[name as keyof typeof exitCodes]}`,
        ...paragraph(`${says}.`),
      ]),
    ),
    '.Sh SEE ALSO',
    '.Xr fusermount 1 ,',
    '.Xr calcfs.conf 5 ,',
    '.Xr mount.calcfs 8',
  ]
}

const exitSays: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'Done',
  failed: 'Failed, or answered with no',
  usage: 'A wrong flag, argument or setting: the same call will fail again',
  signIn: 'The service refused the user name, password or token, or the sign-in has ended',
  unreachable: 'The service or the daemon of a drive did not answer',
  noFuse: 'This machine cannot mount: FUSE is missing or not allowed',
  mountPoint: 'The mount point is missing, not empty, or no mount of calcfs',
  unsent: 'Edits wait to be saved',
}

function commandLines(name: string, command: Command): readonly string[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .filter(
      option => !isUnlisted(option) && option.helpGroupHeading === undefined && option.long !== '--help',
    )
  const takesSettings = command.options.some(
    option => isUnlisted(option) || option.helpGroupHeading !== undefined,
  )
  const args = command.registeredArguments
  return [
    `.Ss ${safe(name)}`,
    '.Bd -ragged -compact',
    '.Nm calcfs',
    `.Cm ${word(name)}`,
    ...(options.length === 0 ? [] : ['.Op Ar option ...']),
    ...(args.length === 0 ? [] : [`.${argumentWords(args)}`]),
    '.Ed',
    '.Pp',
    ...paragraph(`${capital(command.description())}.`),
    ...list('-tag -width Ds', [
      ...args
        .filter(one => one.description !== '')
        .flatMap(one => [`.It Ar ${word(one.name())}`, ...paragraph(`${one.description}.`)]),
      ...options.flatMap(flagItem),
    ]),
    ...(takesSettings ? ['.Pp', 'The settings of', '.Xr calcfs.conf 5', 'work as flags here, too.'] : []),
    ...typed(exampleLines(examplesOf(command))),
  ]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const files: readonly string[] = [
  '.Sh FILES',
  '.Bl -tag -width Ds',
  '.It Pa ~/.config/calcfs/config.toml',
  'The configuration of a user, below',
  '.Ev XDG_CONFIG_HOME',
  'where that is set.',
  '.It Pa /etc/calcfs/config.toml',
  'The configuration of the machine.',
  '.It Pa ~/.local/state/calcfs/',
  'Drafts, the texts of 90 days, known reports, the token of a sign-in: losing it loses edits that were not saved.',
  '.It Pa ~/.cache/calcfs/',
  'Contents that were read; they can be downloaded again.',
  '.El',
]

function configurationPage(date: Date): readonly string[] {
  return [
    ...heading({ name: 'calcfs.conf', section: 5, says: 'settings of calcfs', date }),
    '.Sh SYNOPSIS',
    '.Pa ~/.config/calcfs/config.toml',
    '.Pp',
    '.Pa /etc/calcfs/config.toml',
    '.Sh DESCRIPTION',
    'A TOML file with a line for each setting.',
    'The file of',
    '.Fl \\-config',
    'or',
    '.Ev CALCFS_CONFIG',
    'counts alone; without one the file of the user goes before the file of the machine.',
    'A flag goes before a variable of the environment, a variable before the profile that was chosen, a profile before the rest of the file.',
    '.Pp',
    'Durations are written 500ms, 30s, 5m, 12h or 7d; sizes 500M or 10G, where K is 1024; switches true or false; a setting that may be given several times is a list.',
    'A name and a table say the same:',
    '.Ql "ttl\\-listing = \\(dq1m\\(dq"',
    'and, below',
    '.Ql "[ttl]" ,',
    '.Ql "listing = \\(dq1m\\(dq" .',
    'An unknown name is an error that says the nearest known one.',
    '.Ss Profiles',
    'A table',
    '.Ql "[profiles.NAME]"',
    'holds settings that count with',
    '.Fl \\-profile Ar NAME ,',
    '.Ev CALCFS_PROFILE ,',
    'or',
    '.Ql "profile = \\(dqNAME\\(dq"',
    'at the top of the file.',
    ...groups.flatMap(group => [
      `.Ss ${safe(groupTitles[group])}`,
      ...list('-tag -width Ds', settingsIn(group).flatMap(settingItem)),
    ]),
    '.Ss Of the file alone',
    '.Bl -tag -width Ds',
    '.It Cm password , token',
    'The password, or a ready token.',
    'The file must be readable by its owner alone then.',
    '.It Cm profile',
    'The profile to take where none is named.',
    '.It Cm dialect',
    'Tables',
    '.Ql "[dialect.fields]"',
    'and',
    '.Ql "[dialect.query.\\(dqENDPOINT\\(dq]"',
    'for a service that names its fields otherwise: names to try first, and parameters to add.',
    '.El',
    ...files,
    '.Sh EXAMPLES',
    ...typed([
      'url = "https://lab.example.org"',
      'user = "anna@example.org"',
      'access = "edit"',
      'ca-file = "/etc/ssl/lab-ca.pem"',
      '',
      '[profiles.group]',
      'url = "https://group.example.org"',
      'root = ["/db/group/Catalysis", "4711"]',
      'access = "read"',
    ]),
    '.Sh SEE ALSO',
    '.Xr calcfs 1 ,',
    '.Xr mount.calcfs 8',
  ]
}

function settingItem(name: keyof typeof settings): readonly string[] {
  const { value, help, initial, repeatable } = settings[name]
  const values = value === undefined ? 'yes or no' : value.replace(/[<>]/g, '')
  return [
    `.It Cm ${word(flagName(name))} = Ar ${word(values)}`,
    ...paragraph(`${capital(help)}.`),
    ...(repeatable ? ['May be given several times.'] : []),
    ...(initial === undefined ? [] : ['Default:', `.Ql ${word(initial)} .`]),
    `.Pq Fl ${word(`-${flagName(name)}`)} , Ev ${variableName(name)}`,
  ]
}

function mountPage(date: Date): readonly string[] {
  return [
    ...heading({
      name: 'mount.calcfs',
      section: 8,
      says: 'mount a calcfs drive by mount(8) and fstab(5)',
      date,
    }),
    '.Sh SYNOPSIS',
    '.Nm mount',
    '.Fl t Cm calcfs',
    '.Op Fl o Ar option , Ns Ar ...',
    '.Ar URL directory',
    '.Sh DESCRIPTION',
    'The helper that',
    '.Xr mount 8',
    'calls for the type',
    '.Cm calcfs .',
    'It comes back once the drive is there; the daemon goes on in the background, and',
    '.Xr umount 8',
    'ends it.',
    'The password comes from a sign-in by',
    '.Ql "calcfs login" ,',
    'from',
    '.Cm password\\-file ,',
    '.Cm password\\-command',
    'or the configuration; never from an option.',
    '.Sh OPTIONS',
    'Every setting of',
    '.Xr calcfs.conf 5',
    'is an option of the same name, with dashes or underscores; a switch needs no value.',
    'The option',
    '.Cm ro',
    'is',
    '.Cm access=read .',
    'What',
    '.Xr mount 8',
    'itself knows (noauto, user, nosuid, nodev, _netdev, x\\-systemd.automount and the like) may stand beside them.',
    ...groups.flatMap(group => [
      `.Ss ${safe(groupTitles[group])}`,
      ...list(
        '-tag -width Ds',
        settingsIn(group).flatMap(name => {
          const { value, help, initial } = settings[name]
          const option =
            value === undefined
              ? word(optionName(name))
              : `${word(`${optionName(name)}=`)} Ns Ar ${word(value.replace(/[<>]/g, ''))}`
          return [
            `.It Cm ${option}`,
            ...paragraph(`${capital(help)}.`),
            ...(initial === undefined ? [] : ['Default:', `.Ql ${word(initial)} .`]),
          ]
        }),
      ),
    ]),
    '.Sh FILES',
    '.Bl -tag -width Ds',
    '.It Pa /etc/fstab',
    'A line for each drive that is mounted for good.',
    '.It Pa /etc/calcfs/config.toml',
    'The settings of all drives of the machine.',
    '.El',
    '.Sh EXIT STATUS',
    'Those of',
    '.Xr mount 8 :',
    '0 done, 1 a wrong option or argument, 2 no FUSE on this machine, 8 interrupted, 32 not mounted.',
    '.Sh EXAMPLES',
    ...typed(['mount -t calcfs https://lab.example.org /srv/lab -o ro,allow-other', 'umount /srv/lab']),
    'In',
    '.Xr fstab 5 ,',
    'mounted when it is first used:',
    ...typed([
      'https://lab.example.org /srv/lab calcfs noauto,x-systemd.automount,_netdev,ro,allow-other 0 0',
    ]),
    '.Sh SEE ALSO',
    '.Xr calcfs 1 ,',
    '.Xr calcfs.conf 5 ,',
    '.Xr fstab 5 ,',
    '.Xr mount 8 ,',
    '.Xr umount 8',
  ]
}
