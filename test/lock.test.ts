// Promises of the set-up: `npm ci` takes the lock as it stands, on every platform, and a lock that lost entries is completed.
import { execFile } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { z } from 'zod'

const root = resolve(fileURLToPath(import.meta.url), '../../..')
const deadline = 60_000

const _lockForm = z.looseObject({ packages: z.record(z.string(), z.looseObject({})) })

interface Ended {
  readonly code: number
  readonly said: string
}

function ran(program: string, args: readonly string[], cwd: string): Promise<Ended> {
  const environment = { ...process.env, npm_config_update_notifier: 'false' }
  return new Promise(done => {
    execFile(program, args, { cwd, timeout: deadline, env: environment }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code ?? -1), said: out + err }),
    )
  })
}

/** npm's own comparison of package.json and lock; the network is not needed for it. */
const dryRun = (cwd: string): Promise<Ended> =>
  ran('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit'], cwd)

/** A directory that holds nothing but package.json and the lock. */
async function copied(t: Test): Promise<string> {
  const directory = t.testdir({})
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(root, name), join(directory, name))
  return directory
}

t.test('npm ci takes the lock of this repository', async t => {
  t.match(await dryRun(await copied(t)), { code: 0 })
})

const _about = ({ version, os, cpu, libc, optional }: Readonly<Record<string, unknown>>) => ({
  version,
  os,
  cpu,
  ...(libc === undefined ? {} : { libc }),
  optional,
})
