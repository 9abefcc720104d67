// The command table of `calcfs`, and the one place where a command's end becomes a sentence and an exit code.
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { doctorCommand } from './doctor.js'
import { exitCodeOf, exitCodes, sentenceOf } from './exit.js'
import { loginCommand, logoutCommand } from './login.js'
import { mountCommand } from './mount.js'
import { resolveCommand } from './resolve.js'
import { serveCommand } from './serve.js'
import { statusCommand } from './status.js'
import { unmountCommand } from './unmount.js'

const manifest = new URL('../../../package.json', import.meta.url)

const commands: readonly Command[] = [
  doctorCommand(),
  loginCommand(),
  logoutCommand(),
  mountCommand(),
  resolveCommand(),
  serveCommand(),
  statusCommand(),
  unmountCommand(),
]

const notes = `
Every flag has a variable, --ttl-listing is CALCFS_TTL_LISTING, and a key in the configuration file, ttl-listing or
listing below [ttl]; passwords come from \`calcfs login\`, CALCFS_PASSWORD, CALCFS_TOKEN or that file, never from a flag.
Exit codes: ${Object.entries(exitCodes)
  .map(([name, code]) => `${code} ${name}`)
  .join(', ')}.`

/** Runs one command line (without node and script) and sets the exit code; nothing is thrown. */
export async function main(args: readonly string[]): Promise<void> {
  const program = programOf(commands)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (reason) {
    process.exitCode = exitCodeOf(reason)
    const sentence = sentenceOf(reason)
    if (sentence !== undefined) console.error(`calcfs: ${sentence}`)
    if (program.opts()['debug'] === true) console.error(reason)
  }
}

function programOf(table: readonly Command[]): Command {
  const program = new Command('calcfs')
    .description('Mounts a computational-chemistry data platform as a drive.')
    .version(versionOf(readFileSync(manifest, 'utf8')), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option(
      '--config <file>',
      'configuration file; default $XDG_CONFIG_HOME/calcfs/config.toml, then /etc/calcfs/config.toml',
    )
    .option('--profile <name>', 'the profile of the configuration file to take')
    .option('--debug', 'print where in the program an error came from')
    .addHelpText('after', notes)
    .showHelpAfterError('(calcfs --help lists the commands and flags)')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'calcfs: ')) })
    .exitOverride()
  for (const command of table) program.addCommand(command.copyInheritedSettings(program))
  return program
}

function versionOf(packageJson: string): string {
  return String(JSON.parse(packageJson).version)
}
