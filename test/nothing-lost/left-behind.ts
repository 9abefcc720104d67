// What a daemon leaves on disk when it dies: its drafts as bytes and notes.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A draft as it lies there. `state` and `record` are its note's, undefined where the note cannot be read. */
/** The state directory of the one account below these; calcfs makes them at its first start. */
export async function accountIn(states: string): Promise<string> {
  await mkdir(states, { recursive: true })
  const [account, another] = (await readdir(states)).filter(isAccount)
  if (account === undefined || another !== undefined) throw new Error(`one account is due in ${states}`)
  return join(states, account)
}

/** Beside those of accounts lies what belongs to none: logs, and where drives were mounted. */
const isAccount = (name: string): boolean => /-[0-9a-f]{12}$/.test(name)

export async function draftsLeft(states: string) {
  const root = join(await accountIn(states), 'drafts')
  const names = (await readdir(root)).filter(name => !name.startsWith('.'))
  return Promise.all(names.map(name => leftBehind(join(root, name))))
}

async function leftBehind(directory: string) {
  const note: unknown = JSON.parse(await readFile(join(directory, 'meta.json'), 'utf8'))
  const state = typeof note === 'object' && note !== null && 'state' in note ? String(note.state) : undefined
  return { directory, text: await readFile(join(directory, 'text'), 'utf8'), state }
}
