// The bundled service: starts and stops its data directory, database and listener.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openContents } from './content/contents.js'
import { rights } from './people/rights.js'
import { secretIn, tokens } from './people/users.js'
import { buildApp, prefix } from './routes/app.js'
import { seedOf } from './seed.js'
import { complete, type ServiceOptions } from './store/options.js'
import { lockData, makePrivateFile, openStore } from './store/store.js'

const dayInSeconds = 24 * 60 * 60

/** @throws Error with code EADDRINUSE if the port is taken, EACCES if the data directory cannot be used; with a sentence if another service uses it */
export async function startService(options: ServiceOptions) {
  const { host = '127.0.0.1', port = 0, now = Date.now, tokenLifetime = dayInSeconds } = options
  makeDirectory(options.data)
  const lock = lockData(options.data)
  const { store, contents } = openData(options.data)
  const lacks = { ...complete, ...options.shortcomings }
  const secret = secretIn(join(options.data, 'token.secret'))
  const app = buildApp(
    {
      store,
      contents,
      tokens: tokens({ secret, lifetimeSeconds: tokenLifetime, now }),
      rights: rights(store, lacks),
      lacks,
      now,
    },
    options,
  )
  const end = async () => {
    await app.close()
    store.close()
    lock.release()
  }
  try {
    await app.listen({ host, port })
  } catch (error) {
    await end()
    throw error
  }
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the service listens nowhere')
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    /** The base URL a client is given, `http://<host>:<port>/create/rest`. */
    url: `http://${name}:${address.port}${prefix}`,
    port: address.port,
    /** Inserts things into the running service without a request. */
    seed: seedOf(store, contents, now),
    close: end,
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

/** One level at a time: where a parent exists but takes nothing (/proc, an automounter's), Node's recursive mkdir never returns. */
function makeDirectory(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** Opens a data directory, making what is missing; other users of the machine cannot read its contents. */
export function openData(directory: string) {
  makeDirectory(directory)
  const file = join(directory, 'service.db')
  // SQLite gives its other files the mode of this one.
  makePrivateFile(file)
  const store = openStore(file)
  return { store, contents: openContents(join(directory, 'content'), store) }
}
