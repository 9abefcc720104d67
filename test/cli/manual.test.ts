// Promises of the manual: its pages are good mdoc(7), and say what the commands and the table of settings say.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { topicText } from '../../src/cli/help/help.js'
import { wholeProgram } from '../../src/cli/main.js'
import { manualPages } from '../../src/cli/manual/pages.js'
import { flagName, settingNames, variableName } from '../../src/config/settings.js'
import { run } from '../testbed/programs.js'
import { commandsBelow } from './commands-below.js'

async function written(t: Test): Promise<Readonly<Record<string, string>>> {
  const pages = manualPages(await wholeProgram(), new Date(0))
  const directory = t.testdir()
  mkdirSync(directory, { recursive: true })
  return Object.fromEntries(
    Object.entries(pages).map(([name, text]) => {
      const file = join(directory, name)
      writeFileSync(file, text)
      return [name, file]
    }),
  )
}

/** A page as it is read, without the hyphens at line ends and the spaces of justified lines. */
async function read(t: Test, file: string): Promise<string> {
  const ran = await run('man', ['--warnings', '--no-hyphenation', '--no-justification', '-l', file], {
    environment: { MANWIDTH: '78', MANPAGER: 'cat', MAN_KEEP_FORMATTING: '' },
  })
  t.match(ran, { code: 0, stderr: '' }, `man -l shows ${file}`)
  return ran.stdout.replace(/\s+/g, ' ').replaceAll('‐', '-')
}

t.test(
  'CMD-6 the manual pages are faultless, and name every command, flag, setting and exit code',
  async t => {
    const files = await written(t)
    t.same(Object.keys(files), ['calcfs.1', 'calcfs.conf.5', 'mount.calcfs.8'])
    for (const file of Object.values(files)) {
      const { stdout } = await run('mandoc', ['-T', 'lint', file])
      // The pages are not installed here.
      const faults = stdout
        .split('\n')
        .filter(line => !/^$|manual not found: Xr (calcfs|mount\.calcfs)/.test(line))
      t.same(faults, [], `mandoc -T lint ${file}`)
    }
    const program = await read(t, files['calcfs.1'] ?? '')
    for (const [path, command] of commandsBelow(await wholeProgram())) {
      if (command.commands.length > 0 || /__|hand-over/.test(path)) continue
      t.ok(program.includes(` ${path} `), path)
      for (const { long, helpGroupHeading } of command.createHelp().visibleOptions(command))
        if (
          helpGroupHeading === undefined &&
          !settingNames.map(name => `--${flagName(name)}`).includes(long ?? '')
        )
          t.ok(program.includes(` ${long} `), `${long} of ${path}`)
    }
    for (const title of ['HOW AN EDIT REACHES', 'WHEN ANOTHER CLIENT', 'WHAT IS DELETED', 'NAMES OF FILES'])
      t.ok(program.includes(title), title)
    const configuration = await read(t, files['calcfs.conf.5'] ?? '')
    for (const name of settingNames)
      t.ok(
        configuration.includes(`(--${flagName(name)}, ${variableName(name)})`),
        `${name} is in calcfs.conf(5)`,
      )
    t.match(await read(t, files['mount.calcfs.8'] ?? ''), /Every setting of calcfs.conf\(5\) is an option/)
  },
)

t.test('CMD-6 `calcfs help settings` is the table of settings', async t => {
  const page = topicText('settings')
  for (const name of settingNames) {
    t.ok(page.includes(`--${flagName(name)}`), `--${flagName(name)}`)
    t.ok(page.includes(variableName(name)), variableName(name))
  }
})
