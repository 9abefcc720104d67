// Promises about the command line as a whole: its help, mistyped names, and the form of what it prints.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { topics, topicText } from '../../src/cli/help/help.js'
import { wholeProgram } from '../../src/cli/main.js'
import { everydaySettings, flagName, settingNames } from '../../src/config/settings.js'
import { ask as calcfs } from '../testbed/commands/warm-commands.js'
import { commandsBelow } from './commands-below.js'

function homeOf(t: Test, configuration = ''): Readonly<Record<string, string>> {
  const home = t.testdir()
  mkdirSync(join(home, '.config/calcfs'), { recursive: true })
  if (configuration !== '') writeFileSync(join(home, '.config/calcfs/config.toml'), configuration)
  return { PATH: process.env['PATH'] ?? '', HOME: home }
}

t.test('CMD-2 the help of mount lists twelve settings, that of another command has one line', async t => {
  const listedIn = (help: string) =>
    settingNames.filter(name => new RegExp(`^ +--${flagName(name)}(?![-\\w])`, 'm').test(help))
  for (const [path, command] of commandsBelow(await wholeProgram())) {
    const listed = listedIn(command.helpInformation())
    if (path === 'calcfs mount') t.same(listed.toSorted(), everydaySettings.toSorted())
    else t.ok(listed.length < 2, `${path} lists ${listed.join(', ') || 'none'}`)
  }
  t.equal(everydaySettings.length, 12)
  for (const asked of [
    ['mount', '--help', '--all'],
    ['mount', '--all', '-h'],
    ['help', 'mount', '--all'],
  ]) {
    const { code, stdout } = await calcfs(asked, homeOf(t))
    t.equal(code, 0)
    t.same(listedIn(stdout).toSorted(), settingNames.toSorted(), asked.join(' '))
  }
  t.notMatch((await calcfs(['--help'], homeOf(t))).stdout, /hand-over/, 'only systemd types it')
})

t.test(
  'CMD-2 a setting works as a flag where the help does not list it, and a mistyped one is recognised',
  async t => {
    const env = homeOf(t)
    t.match(await calcfs(['resolve', '/db/x', '--url', 'ftp://x'], env), {
      code: 2,
      stderr: /"ftp:\/\/x"|ftp/,
    })
    t.match(await calcfs(['resolve', '/db/x', '--ca-fil', 'x'], env), {
      code: 2,
      stderr: /Did you mean --ca-file\?/,
    })
    t.match(await calcfs(['resolve', '--help'], env), {
      code: 0,
      stdout: /settings .* work as flags here.*help settings/s,
    })
    for (const command of ['ls', 'find', 'cat']) {
      const { stdout } = await calcfs([command, '--help'], env)
      t.match(stdout, 'The settings of the service work as flags here, too (--url')
      t.notMatch(stdout, /settings of calcfs|drive work|the log/, 'no others are named')
      t.match(await calcfs([command, '--ttl-listing', '1m', '.'], env), { code: 2, stderr: /unknown option/ })
    }
  },
)

t.test('CMD-4 a profile that is not there ends any command, and the nearest one is named', async t => {
  const env = homeOf(t, '[profiles.group]\nurl = "https://lab.example.org"\n')
  for (const command of [['status'], ['doctor'], ['drafts', 'list']])
    t.match(await calcfs(['--profile', 'grup', ...command], env), {
      code: 2,
      stdout: '',
      stderr: /^calcfs: there is no profile 'grup'; the nearest is 'group'; known are group\.\n$/,
    })
  for (const command of [['status'], ['cache', 'info'], ['drafts', 'list']])
    t.match(
      await calcfs(command, { ...env, CALCFS_PROFILE: 'grup' }),
      { code: 2, stdout: '', stderr: /^calcfs: there is no profile 'grup'; the nearest is 'group'/ },
      'by its variable as well',
    )
  t.notMatch(
    await calcfs(['status', '--profile', 'group'], env),
    { stderr: /profile/ },
    'a known one is taken',
  )
  t.match(await calcfs(['status', '--profile', 'x'], homeOf(t)), {
    code: 2,
    stderr: /there is no configuration file/,
  })
})

t.test('CMD-4 a configuration file that is not there ends any command', async t => {
  const env = homeOf(t)
  for (const command of [['status'], ['drafts', 'list'], ['log', '--no-follow']]) {
    const refusal = {
      code: 2,
      stdout: '',
      stderr:
        /^calcfs: \/nowhere: there is no such configuration file; name another with --config, or leave it out\.\n$/,
    }
    t.match(await calcfs(['--config', '/nowhere', ...command], env), refusal)
    t.match(await calcfs(command, { ...env, CALCFS_CONFIG: '/nowhere' }), refusal)
  }
})

t.test('CMD-4 a variable that is no setting is told, and the command goes on', async t => {
  const env = { ...homeOf(t), CALCFS_ACESS: 'read', CALCFS_TTL_LISTING: '1m', CALCFS_TEST_FULL: '' }
  const ended = await calcfs(['help', 'edits'], env)
  t.match(ended, {
    code: 0,
    stdout: topicText('edits'),
    stderr:
      "calcfs: the variable CALCFS_ACESS is no setting, and not used; the nearest is 'CALCFS_ACCESS'.\n",
  })
})

t.test('CMD-6 calcfs help prints topics and commands, and names the nearest for a mistyped one', async t => {
  const env = homeOf(t)
  const words = [...topics].map(topic => [topic])
  for (const topic of words)
    t.match(await calcfs(['help', ...topic], env), { code: 0, stdout: /^# /, stderr: '' })
  const helped = await calcfs(['help', 'drafts', 'send'], env)
  t.same(helped, await calcfs(['drafts', 'send', '--help'], env))
  t.match(helped, { code: 0, stdout: /^Usage: calcfs drafts send / })
  t.match(await calcfs(['help'], env), {
    code: 0,
    stdout: /edits, conflicts, deleting, names, offline, settings/,
  })
  t.match(await calcfs(['help', 'conflict'], env), {
    code: 2,
    stdout: '',
    stderr: /the nearest is 'conflicts'/,
  })
})

t.test('CMD-1 the help of a command with sub-commands has examples of them', async t => {
  const env = homeOf(t)
  for (const group of ['drafts', 'report', 'cache', 'fleet']) {
    const { stdout } = await calcfs([group, '--help'], env)
    const examples = stdout.slice(stdout.indexOf('\nExamples:\n')).match(/^ {2}calcfs .*/gm) ?? []
    const its = examples.filter(line => line.includes(` ${group} `))
    t.ok(its.length >= 2, `${group}: ${its.length} examples`)
  }
})
