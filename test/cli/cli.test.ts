// Promises of the command line: the message for wrong input, exit codes, sign-in, and what is kept of it.
import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Finding } from '../../src/cli/doctor/finding.js'
import { startService } from '../../src/service/service.js'
import { ask } from '../testbed/commands/warm-commands.js'
import { calcfs as program } from '../testbed/daemon.js'
import { type Ran, run } from '../testbed/programs.js'

const deadline = 20_000

t.jobs = 3

/** A place of its own for each test: home, configuration, state and cache. */
function homeOf(t: Test): Readonly<Record<string, string>> {
  const home = t.testdir()
  return { PATH: process.env['PATH'] ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state') }
}

interface Call {
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
  readonly program?: string
}

/** A process of its own where something is typed in, or where it stands; else in one that has loaded the commands. */
const calcfs = (args: readonly string[], { env, program: own, input, cwd = '/' }: Call): Promise<Ran> =>
  own === undefined && input === undefined
    ? ask(args, env)
    : run(
        '/usr/bin/env',
        ['-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), own ?? program, ...args],
        {
          cwd,
          limit: deadline,
          input: input ?? '',
        },
      )

t.test('it runs from any directory and through links', async t => {
  const env = homeOf(t)
  const link = join(t.testdirName, 'link')
  symlinkSync(program, link)
  const ended = await calcfs(['--version'], { env, program: link, cwd: '/tmp' })
  t.match(ended, { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})

t.test('CMD-3 the versions of calcfs and of what it runs on are one document', async t => {
  const env = homeOf(t)
  for (const args of [
    ['--version', '--json'],
    ['--json', '-V'],
  ]) {
    const { code, stdout, stderr } = await calcfs(args, { env })
    t.same({ code, stderr }, { code: 0, stderr: '' })
    const found = JSON.parse(stdout)
    t.match(found, { calcfs: /^\d+\.\d+\.\d+$/, serviceApi: '1.1.0', fuseNative: /^2\.\d+\.\d+$/ })
    t.same([found.node, found.kernel, found.architecture], [process.versions.node, release(), process.arch])
    t.match(found.commit ?? '0'.repeat(40), /^[0-9a-f]{40}(\+changes)?$/)
  }
})

t.test('CMD-13 what was typed wrong is one sentence and exit code 2, without a stack', async t => {
  const calls: readonly (readonly [readonly string[], RegExp])[] = [
    [['undo'], /^calcfs: unknown command 'undo'\n\(calcfs history PATH .* calcfs restore PATH@N /],
    [['shares'], /^calcfs: unknown command 'shares'\n\(.*\.shares\/new\.json: calcfs help edits\)\n/],
    [['constructor'], /^calcfs: unknown command 'constructor'\n\(calcfs --help /],
    [['mont'], /unknown command 'mont'|too many arguments/],
    [['login', '--usr', 'x'], /^calcfs: unknown option '--usr'\n\(Did you mean --user\?\)/],
    [['mount'], / argument 'url'\n\(write calcfs mount https:.* --profile NAME ~\/lab\)\n/],
    [['status', '--mount', 'x'], / option '--mount'\n\(.* status, top and log take the drive /],
    [['ls', 'https://data.example.org'], /^calcfs: https:\S+: give the address with --url, /],
    [['find', '.', '-name', 'x'], /^calcfs: unknown option '-name'\n\(.* has two dashes: --name\)\n/],
    [
      ['login', '--password=secret'],
      /^calcfs: unknown option '--password'\n\(.* never a flag, .* CALCFS_PASSWORD/,
    ],
    [
      ['login', '--token', 'secret'],
      /^calcfs: unknown option '--token'\n\(.* never a flag, .* CALCFS_TOKEN\)/,
    ],
    [
      ['info', 'projects/Water', 'splitting'],
      /^calcfs: too many arguments .*\n\(.* in quotes: 'projects\/Water /,
    ],
    [
      ['login', 'https://data.example.org', '--user', 'anna'],
      /^calcfs: no line came in for "Password of anna .*": call calcfs at a terminal, or let another program write the answer/,
    ],
    [['login', 'data.example.org'], /^calcfs: "data\.example\.org" is no web address; .* --profile\n$/],
    ...['login', 'logout', 'doctor'].map(
      name => [[name, '/home/anna/lab'], /^calcfs: "\/home\/anna\/lab" is no web address; /] as const,
    ),
    [
      ['login', 'http://data.example.org'],
      /^calcfs: plain http would show your password .*--insecure-http\n$/,
    ],
    [['login', 'https://anna:secret@data.example.org'], /^calcfs: leave the user name and password out/],
    [
      ['login', 'https://data.example.org'],
      /^calcfs: this is no terminal to ask for a user name; give --user\.\n$/,
    ],
    [
      ['doctor', '--ttl-listing', 'soon'],
      /^calcfs: --ttl-listing: "soon" is no duration; write for example 30s/,
    ],
    [
      ['mount', '/lab', 'https://data.example.org'],
      /^calcfs: the address comes first\. Write: calcfs mount https:\/\/data\.example\.org \/lab\n$/,
    ],
  ]
  for (const [args, sentence] of calls) {
    const ended = await calcfs(args, { env: homeOf(t) })
    t.match(ended, { code: 2, stdout: '', stderr: sentence }, args.join(' '))
    t.notMatch(ended.stderr, /^\s+at /m, 'no stack')
    t.notMatch(ended.stderr, 'secret', 'no password repeated')
  }
})

t.test('a command without a sign-in ends with 3, as one whose sign-in has ended', async t => {
  const ended = await calcfs(['resolve', '--url', 'https://data.example.org', '/db/x'], { env: homeOf(t) })
  t.match(ended, { code: 3, stdout: '', stderr: /^calcfs: not signed in at https:\/\/data\.example\.org\./ })
})

t.test('with a service', async t => {
  const service = await startService({ data: t.testdir() })
  t.teardown(() => service.close())
  service.seed.addUser({ name: 'anna', password: 'hunter2' })
  const project = service.seed.addProject({ name: 'Dyes', owner: 'anna' })
  const calculation = service.seed.addCalculation({ name: 'TS1', project })
  const { url } = service

  t.test(
    'SIGN-10 login keeps the token for a day, its owner’s alone, and nothing of the password',
    async t => {
      const env = homeOf(t)
      const ended = await calcfs(['login', url, '--user', 'anna'], { env, input: 'hunter2\n' })
      t.match(ended, {
        code: 0,
        stdout: /^Signed in to http.* as anna, until 2[-\d]+ [:\d]+; the token is kept in .*\n$/,
        stderr: '',
      })
      const hours =
        (Date.parse(/until ([-\d]+ [:\d]+)/.exec(ended.stdout)?.[1] ?? '') - Date.now()) / 3_600_000
      t.ok(hours > 21 && hours < 27, ended.stdout)
      t.notMatch(ended.stdout, /eyJ/, 'no token is shown')
      for (const file of filesBelow(env['HOME'] ?? '')) {
        t.equal(statSync(file).mode & 0o077, 0, `${file} is private`)
        t.notMatch(readFileSync(file, 'utf8'), 'hunter2')
      }
    },
  )

  t.test('later commands know the user of the log-in; logout forgets the token', async t => {
    const env = homeOf(t)
    await calcfs(['login', url, '--user', 'anna'], { env, input: 'hunter2\n' })
    const resolved = await calcfs(['resolve', '--url', url, '/db/anna/Dyes'], { env })
    t.match(resolved, { code: 0, stdout: `project ${project}\n` })
    const json = await calcfs(['resolve', '--url', url, 'projects/Dyes/TS1', '--json'], { env })
    t.same(JSON.parse(json.stdout), [{ kind: 'calculation', id: calculation }])
    t.match(await calcfs(['logout', url], { env }), { code: 0, stdout: /^Signed out anna of / })
    const after = await calcfs(['resolve', '--url', url, '/db/anna'], { env })
    t.match(after, { code: 3, stderr: /calcfs login/ })
  })

  t.test(
    'a password that cannot be read is no outage: exit code 2, and nothing is shown (SIGN-5)',
    async t => {
      const env = homeOf(t)
      await calcfs(['login', url, '--user', 'anna'], { env, input: 'hunter2\n' })
      t.match(await calcfs(['ls', '--url', url, 'projects'], { env, input: '' }), {
        code: 0,
        stdout: 'Dyes\n',
        stderr: '',
      })
      await calcfs(['logout', url], { env })
      for (const [flags, sentence] of [
        [['--password-file', '/nowhere'], /^calcfs: \/nowhere: there is no such password file; write/],
        [
          ['--password-command', 'echo hunter2; exit 3'],
          /^calcfs: password-command failed \(exit code 3\); run it by hand: echo hunter2; exit 3\n$/,
        ],
        [
          ['--password-file', `${env['HOME']}/state/calcfs`],
          /: this password cannot be read \(EISDIR\); check the owner/,
        ],
      ] as const) {
        const signedIn = ['--url', url, '--user', 'anna', ...flags]
        for (const command of [['ls'], ['cat']])
          t.match(await calcfs([...command, ...signedIn, 'projects'], { env, input: '' }), {
            code: 2,
            stdout: '',
            stderr: sentence,
          })
      }
    },
  )

  t.test('a path that is not there is exit code 1; a report cannot be resolved, and why', async t => {
    const env = { ...homeOf(t), CALCFS_USER: 'anna', CALCFS_PASSWORD: 'hunter2', CALCFS_URL: url }
    const absent = await calcfs(['resolve', '/db/anna/Nope'], { env })
    t.match(absent, {
      code: 1,
      stderr:
        'calcfs: there is no project and no calculation at /db/anna/Nope; calcfs ls projects lists what there is.\n',
    })
    t.match(await calcfs(['resolve', 'reports/7'], { env }), { code: 2, stderr: /no path of the service/ })
  })

  t.test('doctor finds machine and service well, and a wrong password at its place', async t => {
    const env = { ...homeOf(t), CALCFS_USER: 'anna', CALCFS_PASSWORD: 'hunter2' }
    const well = await calcfs(['doctor', url, '--json'], { env })
    const states = new Map(findings(well).map(({ check, state }) => [check, state]))
    for (const check of ['FUSE device', 'fusermount', 'libfuse 2', 'kernel', 'service', 'clock', 'sign-in'])
      t.equal(states.get(check), 'good', check)
    t.equal(well.code, 0)
    const wrong = { ...homeOf(t), CALCFS_USER: 'anna', CALCFS_PASSWORD: 'wrong' }
    const ill = await calcfs(['doctor', url, '--json'], { env: wrong })
    t.equal(ill.code, 1)
    t.match(
      findings(ill).find(({ state }) => state === 'bad'),
      { check: 'sign-in', mend: /calcfs login/ },
    )
  })
})

function findings(ended: Ran): readonly Finding[] {
  return JSON.parse(ended.stdout)
}

function filesBelow(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}
