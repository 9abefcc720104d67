// Promises of signing in at the terminal and before a mount: when there is a prompt, how it ends, and what comes before "mounted".
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type Account, accountOf, knownAccount, rememberUser } from '../../src/app/account/account.js'
import { forgetToken } from '../../src/app/account/token-store.js'
import { connect, serviceBase } from '../../src/app/connect.js'
import { exchangeCredentials } from '../../src/app/sign-in.js'
import { readConfig } from '../../src/config/config.js'
import { dueIn, systemClock } from '../../src/remote/clock.js'
import { ownHome } from '../testbed/commands/own-home.js'
import { command } from '../testbed/commands/warm-commands.js'
import { calcfs as program } from '../testbed/daemon.js'
import { isMounted } from '../testbed/mount.js'
import { plainNode, type Ran } from '../testbed/programs.js'
import { testService } from '../testbed/service.js'
import { type Terminal, terminal } from '../testbed/terminal.js'
import { until, within } from '../testbed/within.js'

t.jobs = 3

type Desk = Awaited<ReturnType<typeof desk>>

async function desk(t: Test) {
  const service = await testService(t)
  const { directory, state, environment } = await ownHome(t, 'desk')
  const given = (more: Readonly<Record<string, string>>) => {
    const sources = { flags: { url: service.url }, environment: { ...environment, ...more }, files: [] }
    return { config: readConfig(sources), sources }
  }
  return {
    service,
    directory,
    state,
    /** A command in a terminal; the shell then shows its exit code, and whether what is typed is shown. */
    typed(...args: string[]): Promise<Terminal> {
      const command = [...plainNode, program, ...args].map(word => `'${word}'`).join(' ')
      const after = 'echo "ended with $?"; stty -a | grep -o "[ -]echo " | tr " " :; sleep 100'
      return terminal(t, `sh -c "${`${command}; ${after}`.replace(/["$]/g, '\\$&')}"`, environment)
    },
    /** The same without a terminal. */
    calcfs: (more: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> =>
      command(args, { ...environment, ...more }),
    /** `calcfs login`, the account that the next command finds, and its first question, in this process. */
    async logIn(): Promise<void> {
      const { config } = given({})
      const account = accountOf(serviceBase(config), 'demo', config, environment)
      await exchangeCredentials(account, 'demo', config)
      await rememberUser(account, config, environment)
    },
    account(): Account {
      const { config } = given({})
      return knownAccount(serviceBase(config), { config, secret: undefined }, environment)
    },
    async ask(more: Readonly<Record<string, string>>): Promise<unknown> {
      const { remote, close } = connect(given(more))
      return remote.user(dueIn(20_000, systemClock)).finally(close)
    },
    async tokenFile(): Promise<string> {
      const all = await readdir(state, { recursive: true })
      return join(state, all.find(name => name.endsWith('token.json')) ?? 'no token')
    },
  }
}

const login = (at: Desk): Promise<Ran> =>
  at.calcfs({ CALCFS_PASSWORD: 'demo' }, 'login', at.service.url, '--user', 'demo')

const day = 24 * 3_600_000

async function tokenIsOlder(at: Desk, by: number): Promise<void> {
  const file = await at.tokenFile()
  const kept = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...kept, received: kept.received - by }))
}

for (const [key, code, name, commands] of [
  ['C-c', 130, 'Ctrl-C', [['mount'], ['mount', '--daemon'], ['login']]],
  ['C-d', 2, 'Ctrl-D', [['mount'], ['login']]],
  ['Enter', 2, 'Enter alone', [['mount', '--daemon']]],
] as const) {
  t.test(`${name} at the password ends the command, and nothing is mounted (SIGN-3)`, async t => {
    const at = await desk(t)
    for (const command of commands) {
      const where = command[0] === 'mount' ? [at.directory] : []
      const shown = await at.typed(...command, at.service.url, ...where, '--user', 'demo')
      await shown.until(/Password of demo at 127\.0\.0\.1/)
      await shown.keys(key)
      await shown.until(new RegExp(`ended with ${code}\\b`))
      await shown.until(/:echo:/)
      t.notMatch(await shown.screen(), /mounted|Signed in/, command.join(' '))
      t.notOk(await isMounted(at.directory), command.join(' '))
    }
    t.same(at.service.heard, [], 'the service was not asked')
  })
}

t.test('after calcfs login there is no further prompt, with --user or without (SIGN-1)', async t => {
  const at = await desk(t)
  t.match(await login(at), { code: 0 })
  for (const user of [['--user', 'demo'], []]) {
    const shown = await at.typed('mount', '--daemon', at.service.url, at.directory, ...user)
    await shown.until(/ended with 0/)
    t.match(await shown.screen(), /mounted \//)
    t.notMatch(await shown.screen(), /Password/)
    t.match(await at.calcfs({}, 'unmount', at.directory), { code: 0 })
  }
})

t.test('an ended token causes a prompt, and the mount uses what is typed (SIGN-1)', async t => {
  const at = await desk(t)
  await at.logIn()
  await tokenIsOlder(at, 30 * day)
  const shown = await at.typed('mount', '--daemon', at.service.url, at.directory)
  await shown.until(/Password of demo at 127\.0\.0\.1/)
  await shown.type('demo')
  await shown.until(/ended with 0/)
  t.notMatch(await shown.screen(), /: demo\b/, 'what is typed is not shown')
  t.ok(await isMounted(at.directory))
})

t.test('SIGN-1 a keyring may be unlocked by hand at the start, however short the deadlines', async t => {
  const at = await desk(t)
  const asked = join(at.state, 'asked')
  const given = { CALCFS_USER: 'demo', CALCFS_DEADLINE_METADATA: '5s' }
  const asking = `[ $PWD != / ] || exit; echo asked >> ${asked}; sleep 8; echo demo`
  const mount = ['mount', '--daemon', at.service.url, at.directory, '--password-command', asking]
  t.match(await at.calcfs(given, ...mount), { code: 0, stderr: '' })
  t.equal(await readFile(asked, 'utf8'), 'asked\n', 'once')
})

t.test('a token that cannot be renewed serves to its end (SIGN-1)', async t => {
  const at = await desk(t)
  await at.logIn()
  // One minute before its end, when it would have been renewed long ago.
  await tokenIsOlder(at, day - 60_000)
  t.match(await at.calcfs({}, 'mount', '--daemon', at.service.url, at.directory), { code: 0 })
  t.match(await at.calcfs({}, 'status', at.directory), { code: 0 })
})

t.test('a wrong password that is set is reported, although a token still lives (SIGN-5)', async t => {
  const at = await desk(t)
  await at.logIn()
  const passwordFile = join(at.directory, '../password')
  await writeFile(passwordFile, 'wrong\n', { mode: 0o600 })
  for (const [daemon, environment] of [
    [[], { CALCFS_PASSWORD: 'wrong' }],
    [['--daemon'], { CALCFS_PASSWORD_FILE: passwordFile }],
  ] as const) {
    const ended = await at.calcfs(environment, 'mount', ...daemon, at.service.url, at.directory)
    t.match(
      ended,
      { code: 3, stdout: '', stderr: /http:\S+ refused the log-in of demo/ },
      Object.keys(environment).join(),
    )
    t.notOk(await isMounted(at.directory))
  }
  await t.resolves(at.ask({}), 'the token is kept')
})

t.test('a service that is away does not make a set password a wrong one (SIGN-5)', async t => {
  const at = await desk(t)
  await at.logIn()
  await at.calcfs({}, 'mount', '--daemon', at.service.url, at.directory)
  t.match(await at.calcfs({}, 'unmount', at.directory), { code: 0 })
  await at.service.leave()
  const ended = await at.calcfs(
    { CALCFS_PASSWORD: 'demo' },
    'mount',
    '--daemon',
    at.service.url,
    at.directory,
  )
  t.match(ended, {
    code: 0,
    stdout: /^mounted \S+ as demo \(/,
    stderr: /the service does not answer, the drive shows what is known/,
  })
  await at.service.back()
})

/** What may stand in place of the token. */
const damages: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  'cut short': file => writeFile(file, '{"text":"eyJ'),
  empty: file => writeFile(file, ''),
  'of another form': file => writeFile(file, '["a"]'),
  'with a line break': file => writeFile(file, JSON.stringify({ text: 'a\nb', received: 1 })),
  unreadable: file => chmod(file, 0),
}

t.test(
  'a damaged token is dropped where a password is known, and reported where none is (SIGN-7)',
  async t => {
    const at = await desk(t)
    const path = ['/db/demo/Water splitting', '--url', at.service.url]
    const known = { CALCFS_PASSWORD: 'demo' }
    for (const [how, damage] of Object.entries(damages)) {
      // Root reads everything.
      if (how === 'unreadable' && process.getuid?.() === 0) continue
      await at.logIn()
      const file = await at.tokenFile()
      await damage(file)
      await t.rejects(at.ask({}), /the token kept in .* is damaged; run calcfs login http:/, how)
      await at.ask(known)
      t.match(JSON.parse(await readFile(file, 'utf8')), { text: /^eyJ/ }, `${how}: a new one is kept`)
      await damage(file)
      await forgetToken(at.account())
      t.notOk((await readdir(dirname(file))).includes('token.json'), `${how}: logged out`)
    }

    await at.logIn()
    await damages['cut short']?.(await at.tokenFile())
    const told = await at.calcfs({}, 'resolve', ...path)
    t.match(told, { code: 3, stderr: /the token kept in .* is damaged; run calcfs login http:/ })
    t.notMatch(told.stderr, /\n\s+at /)
    t.match(await at.calcfs({}, 'mount', at.service.url, at.directory), { code: 3, stderr: /is damaged/ })
    t.match(await at.calcfs(known, 'resolve', ...path), { code: 0, stdout: /^project / })
    await damages['cut short']?.(await at.tokenFile())
    t.match(await at.calcfs({}, 'logout', at.service.url), { code: 0 })
    await at.logIn()
    await damages['cut short']?.(await at.tokenFile())
    t.match(await at.calcfs(known, 'mount', '--daemon', at.service.url, at.directory), { code: 0 })
  },
)

t.test('SIGN-9 what one user has seen is not shown with the token of another', async t => {
  const at = await desk(t)
  const tokenOf = async (user: string): Promise<string> => {
    const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
    const answer = await fetch(`${at.service.url}/login`, { method: 'POST', headers: { authorization } })
    return (await answer.text()).trim()
  }
  const mount = async (user: string) => {
    const known = { CALCFS_TOKEN: await tokenOf(user), CALCFS_USER: 'us' }
    return at.calcfs(known, 'mount', '--daemon', at.service.url, at.directory)
  }
  t.match(await mount('demo'), { code: 0 })
  t.match(await at.calcfs({}, 'unmount', at.directory), { code: 0 })
  const ended = await mount('guest')
  t.match(ended, { code: 3, stderr: /the sign-in is that of guest, but \S+ and \S+ hold what demo / })
  t.notOk(await isMounted(at.directory))
  t.match(await mount('demo'), { code: 0 })
})

t.test('a password file that others can read is refused, whatever else is set (SIGN-7)', async t => {
  const at = await desk(t)
  const home = join(at.directory, '..')
  const passwordFile = join(home, 'password')
  await writeFile(passwordFile, 'demo\n')
  await chmod(passwordFile, 0o644)
  const sentence = `calcfs: ${passwordFile}: others can read this password; run: chmod 600 ${passwordFile}\n`
  const others: Readonly<Record<string, string>>[] = [
    {},
    { CALCFS_PASSWORD: 'demo' },
    { CALCFS_TOKEN: 'abc' },
    { CALCFS_PASSWORD_COMMAND: 'echo demo' },
  ]
  for (const other of others) {
    const set = { CALCFS_USER: 'demo', CALCFS_PASSWORD_FILE: passwordFile, ...other }
    const ended = await at.calcfs(set, 'login', at.service.url)
    t.match(ended, { code: 2, stderr: sentence }, `with ${Object.keys(other)}`)
  }
  for (const command of [
    ['mount', at.service.url, at.directory],
    ['resolve', '/db/demo', '--url', at.service.url],
  ]) {
    const set = { CALCFS_USER: 'demo', CALCFS_PASSWORD_FILE: passwordFile, CALCFS_PASSWORD: 'demo' }
    t.match(await at.calcfs(set, ...command), { code: 2, stderr: sentence }, command.join(' '))
  }
  const config = join(home, 'config.toml')
  await writeFile(config, '[profiles.other]\npassword = "x"\n')
  await chmod(config, 0o640)
  const ended = await at.calcfs({ CALCFS_PASSWORD: 'demo' }, '--config', config, 'login', at.service.url)
  t.match(ended, { code: 2, stderr: /others can read this password; run: chmod 600/ }, 'a profile not chosen')
  t.same(at.service.heard, [], 'the service was not asked')
})

t.test('PIN-2 what is pinned is mounted and read where the token has ended in an outage', async t => {
  const at = await desk(t)
  const { service, directory } = at
  const calcfs = (...args: string[]) => at.calcfs({}, ...args)
  const mount = () => calcfs('mount', '--daemon', service.url, directory)
  const project = join(directory, 'projects/Water splitting')
  const record = join(project, '.project.json')

  t.match(await login(at), { code: 0 })
  t.match(await mount(), { code: 0 })
  t.match(await calcfs('pin', project), { code: 0 })
  const text = await within(30_000, 'a record', readFile(record, 'utf8'))
  t.match(await calcfs('unmount', directory), { code: 0 })
  await tokenIsOlder(at, 30 * day)
  t.match(await mount(), { code: 3, stderr: /no valid sign-in/ }, 'not of a service that answers')

  await service.leave()
  t.match(await mount(), { code: 0 })
  const content = within(30_000, 'a pinned file', readFile(join(project, 'TS1_opt/input.inp'), 'utf8'))
  t.equal(await content, '! B3LYP opt\n')
  const saved = writeFile(record, text.replace('Water splitting', 'Water'))
  await t.rejects(within(60_000, 'a save', saved), { code: /EHOSTUNREACH|ETIMEDOUT/ })
  t.match(await calcfs('drafts', 'list', '--mount', directory), { code: 7, stdout: /project 100/ })
  t.match(await calcfs('status', directory), { code: 7, stdout: /the service has been away since/ })
  await service.back()
  t.match(await login(at), { code: 0 })
  // The return is asked for every two seconds.
  const send = () => calcfs('drafts', 'send', '--all', '--mount', directory)
  await until(20_000, 'the draft is sent', async () => (await send()).code === 0)
})
