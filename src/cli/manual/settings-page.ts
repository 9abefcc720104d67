// docs/settings.md: every setting in one table, as the table of settings has it.

import { otherVariables } from '../../config/config.js'
import { flagName, settings, variableName } from '../../config/settings.js'
import { groups, groupTitles, settingsIn } from '../help/topics.js'

const intro = `# Settings

Made by \`npm run pages\` from \`src/config/settings.ts\`; a test compares the two. \`calcfs help settings\` and calcfs.conf(5) have the same.

Each is a flag, a variable and a key of \`~/.config/calcfs/config.toml\` or \`/etc/calcfs/config.toml\`: \`--ttl-listing 1m\`, \`CALCFS_TTL_LISTING=1m\`, \`ttl-listing = "1m"\` (or \`listing = "1m"\`
below \`[ttl]\`). The flag goes before the variable, the variable before the profile (\`[profiles.NAME]\`, \`--profile NAME\`), the profile before the rest of the file, the user's file before the machine's. With \`--config FILE\` that file counts alone.
Durations are \`500ms\`, \`30s\`, \`5m\`, \`12h\` or \`7d\`, sizes \`500M\` or \`10G\`, switches \`yes\` or \`no\`. A setting that may be given several times is a list in the file, and has a line for each in its variable.`

const secrets = `Passwords and tokens are no flags. In this order: \`CALCFS_TOKEN\`, \`CALCFS_PASSWORD\`, the systemd credential \`calcfs-password\`, \`password-command\`, \`password-file\`, then \`token\` and \`password\` of a configuration file
of mode 0600. Without any of them the token of \`calcfs login\` counts. The file alone has \`profile\`, the profile to take, and \`[dialect.fields]\` and \`[dialect.query."ENDPOINT"]\` for a service that names its fields otherwise.`

/** The whole page. */
export function settingsPage(): string {
  const tables = groups.map(group =>
    [
      `## ${groupTitles[group]}`,
      '',
      '| setting | default | what it is |',
      '|---|---|---|',
      ...settingsIn(group).map(rowOf),
    ].join('\n'),
  )
  const others = Object.entries(otherVariables).map(([name, says]) => `| \`${name}\` | ${says} |`)
  const last = [
    '## Secrets and other variables',
    '',
    secrets,
    '',
    '| variable | what it is |',
    '|---|---|',
    ...others,
  ]
  return `${[intro, ...tables, last.join('\n')].join('\n\n')}\n`
}

function rowOf(name: keyof typeof settings): string {
  const { value, help, initial, repeatable } = settings[name]
  const flag = `\`--${flagName(name)}${value === undefined ? '' : ` ${value}`}\``
  const says = help.replaceAll('|', '\\|')
  return `| ${flag}<br>\`${variableName(name)}\` | ${initial === undefined ? '' : `\`${initial}\``} | ${says}${repeatable ? ' (a list)' : ''} |`
}
