// Keyring of the desktop, by `secret-tool` of libsecret: one secret for each service and user.
import { execFile } from 'node:child_process'
import { Failure } from '../../failure.js'
import { codeOf } from '../../system/error-code.js'
import type { Account } from './account.js'

/** Milliseconds: a person may be asked to unlock it. */
const patience = 60_000

/** The secret goes through a pipe, never through the list of processes. */
export function openKeyring({ base, user }: Pick<Account, 'base' | 'user'>) {
  const attributes = ['application', 'calcfs', 'url', base.href, 'user', user]
  return {
    /** Undefined where it holds none. @throws Failure 'unauthenticated' where it cannot be opened */
    async load(): Promise<string | undefined> {
      const { code, stdout, stderr } = await secretTool(['lookup', ...attributes])
      if (code === 0) return stdout === '' ? undefined : stdout
      // It ends with 1 without a word where there is no such secret.
      if (code === 1 && stderr === '') return undefined
      throw closed(stderr)
    },
    async save(secret: string): Promise<void> {
      const label = `calcfs: ${user} at ${base.host}`
      const { code, stderr } = await secretTool(['store', `--label=${label}`, ...attributes], secret)
      if (code !== 0) throw closed(stderr)
    },
    async forget(): Promise<void> {
      const { code, stderr } = await secretTool(['clear', ...attributes])
      if (code !== 0 && stderr !== '') throw closed(stderr)
    },
  }
}

function closed(said: string): Failure {
  const words = said.trim().split('\n').at(-1) ?? ''
  const why = words === '' ? '' : ` (${words.slice(0, 300)})`
  return new Failure(
    'unauthenticated',
    `the keyring cannot be used${why}: unlock it in the desktop, or keep tokens in files (keyring = "no")`,
  )
}

function secretTool(
  args: readonly string[],
  input = '',
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile('secret-tool', [...args], { timeout: patience }, (cause, stdout, stderr) => {
      if (codeOf(cause) === 'ENOENT') reject(missing(cause))
      else if (child.exitCode === null) reject(closed('no answer in time'))
      else resolve({ code: child.exitCode, stdout, stderr })
    })
    // It may end before it has read: its exit code says why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

const missing = (cause: unknown): Failure =>
  new Failure(
    'unauthenticated',
    'there is no secret-tool for the keyring: install libsecret-tools, or keep tokens in files (keyring = "no")',
    { cause },
  )
