// `calcfs login` and `calcfs logout`: exchanges a password for a token, and keeps only the token.
import { Command } from 'commander'
import { type Account, accountOf, forgetToken, knownAccount, rememberUser } from '../../app/account.js'
import { serviceBase } from '../../app/connect.js'
import { exchangeCredentials } from '../../app/sign-in.js'
import { findSecret } from '../../config/secret.js'
import { asFailure } from '../../failure.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { askFor } from '../../terminal/prompt.js'
import { type Configured, configured, withSettings } from '../../terminal/settings.js'

export function loginCommand(): Command {
  const command = new Command('login')
    .description('sign in to a service; only the token is kept, readable by you alone')
    .argument('[url]', 'address of the service; default: url of the configuration file')
    .action((url: string | undefined) => login(configured(command, url)))
  withExamples(
    command,
    ['calcfs login https://lab.example.org --user anna', 'asks for the password'],
    ['pass lab | calcfs login https://lab.example.org --user anna', 'takes it from another program'],
    ['calcfs login --profile group', 'to the service of a profile'],
  )
  return withSettings(command, 'service')
}

export function logoutCommand(): Command {
  const command = new Command('logout')
    .description('forget the token kept for a service')
    .argument('[url]', 'address of the service; default: url of the configuration file')
    .action((url: string | undefined) => logout(configured(command, url)))
  withExamples(
    command,
    ['calcfs logout https://lab.example.org', 'the user of the last log-in there'],
    ['calcfs logout --profile group', 'the service of a profile'],
  )
  return withSettings(command, 'service')
}

async function login({ config, sources }: Configured): Promise<void> {
  const base = serviceBase(config)
  const secret = findSecret(config, sources)
  if (secret?.as === 'token') {
    throw new Stop(
      exitCodes.usage,
      'a ready token is set, which needs no log-in; unset it to log in instead.',
    )
  }
  const user = config.user ?? (await askedUser(base))
  const password =
    secret === undefined
      ? await askFor(`Password of ${user} at ${base.host}: `, 'hidden')
      : await secret.read()
  const account = accountOf(base, user, config, sources.environment)
  await exchangeCredentials(account, password, config).catch((thrown: unknown) => {
    throw refusedPassword(thrown, account)
  })
  await rememberUser(account, config, sources.environment)
  console.log(`Signed in to ${base.href} as ${user}; the token is kept in ${account.places.state}.`)
}

/** Replaces the advice that a mount gives, which is to run this command. */
function refusedPassword(thrown: unknown, { base, user }: Account): unknown {
  const failure = asFailure(thrown)
  if (failure.kind !== 'unauthenticated' || failure.cause === undefined) return thrown
  const said = failure.said === undefined ? '' : ` (the service said: ${failure.said})`
  return new Stop(
    exitCodes.signIn,
    `${base.host} refused the password of ${user}${said}; check user name and password, and try again. Nothing was changed.`,
  )
}

/** A pipe delivers one line, the password. */
function askedUser(base: URL): Promise<string> {
  if (process.stdin.isTTY) return askFor(`User name at ${base.host}: `, 'shown')
  throw new Stop(exitCodes.usage, 'this is no terminal to ask for a user name; give --user.')
}

async function logout({ config, sources }: Configured): Promise<void> {
  const account = knownAccount(serviceBase(config), { config, secret: undefined }, sources.environment)
  const was = forgetToken(account)
  console.log(
    was
      ? `Signed out ${account.user} of ${account.base.href}.`
      : `${account.user} was not signed in to ${account.base.href}.`,
  )
}
