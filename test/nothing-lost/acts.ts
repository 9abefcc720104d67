// One edit that a kill or a power cut meets, how far the programs were answered by then, and where its text is afterwards.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { besideOf, type Style, write } from '../model/actions/writing.js'
import type { ReceivedRequest } from '../testbed/proxy.js'
import {
  type DriveFiles,
  errnoOf,
  namesOf,
  type OpenedFile,
  outcome,
  overwrite,
  type Testbed,
  textOf,
} from '../testbed/testbed.js'
import { until } from '../testbed/within.js'
import { accountIn } from './left-behind.js'
import type { Subject, Subjects } from './subjects.js'

export interface Act {
  readonly subject: Subject
  readonly word: string
  readonly text: string
  readonly style: Style
  /** Bytes of the text whose write(2) was answered. */
  written: number
  /** How the save ended; undefined while it is under way. */
  end: string | undefined
}

export const actOn = async (subject: Subject, word: string, style: Style): Promise<Act> => ({
  ...{ subject, word, style, written: 0, end: undefined },
  text: subject.edited(await subject.read(), word),
})

/** Brings the text into the file; never fails, for the daemon may die meanwhile. */
export async function perform(testbed: Testbed, act: Act): Promise<void> {
  const left = new Set<OpenedFile>()
  const files: DriveFiles = {
    ...testbed.files,
    async open(path, how) {
      const file = await testbed.files.open(path, how)
      left.add(file)
      return {
        ...file,
        async close() {
          left.delete(file)
          await file.close()
        },
        async write(text, position) {
          await file.write(text, position)
          act.written += Buffer.byteLength(text)
        },
      }
    },
  }
  const writing = write({ ...testbed, files }, act.subject.path, act.text, act.style)
  act.end = await writing.catch((thrown: unknown) => errnoOf(thrown) ?? String(thrown))
  for (const file of left) await outcome(file.close())
}

/** Every text that the drive shows of what is not saved: drafts, and what lies next to the reports and these records. */
export async function textsWaiting(
  testbed: Testbed,
  records: readonly string[] = [],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  async function read(path: string): Promise<void> {
    // A draft may be settled, and end, between its listing and its reading.
    const end = await outcome(textOf(testbed, path).then(text => texts.set(path, text)))
    if (end !== 'done' && end !== 'ENOENT') throw new Error(`${path} cannot be read: ${end}`)
  }
  for (const name of await namesOf(testbed, '.calcfs/drafts'))
    if (!/\.why$|\.theirs\./.test(name)) await read(`.calcfs/drafts/${name}`)
  for (const name of await namesOf(testbed, 'reports')) if (!isReport(name)) await read(`reports/${name}`)
  for (const record of records) {
    const moved = besideOf(record)
    if ((await outcome(testbed.files.lstat(moved))) === 'done') await read(moved)
  }
  return texts
}

const isReport = (name: string): boolean => /^(\d+(\.json)?|INDEX\.tsv|README\.txt|by-name)$/.test(name)

/** Once the new daemon has looked up what the old one had on its way. */
export async function settled(states: string): Promise<void> {
  const drafts = join(await accountIn(states), 'drafts')
  await until(15_000, 'what was on its way is looked up', async () => {
    const notes = (await readdir(drafts)).filter(name => !name.startsWith('.'))
    // A draft may go while it is looked at.
    const states = await Promise.all(
      notes.map(name => readFile(join(drafts, name, 'meta.json'), 'utf8').catch(() => '')),
    )
    return !states.some(note => /"state": "(sending|in-flight)"/.test(note))
  })
}

/** What lies in a directory; nothing where there is none, for a daemon tidies what is empty. */
const namesIn = (directory: string): Promise<string[]> =>
  readdir(directory).catch(cause => {
    if (cause.code === 'ENOENT') return []
    throw cause
  })

/** Every text kept as history below a state directory, of all records or of one (`report-42`). */
export async function historyIn(states: string, of?: string): Promise<readonly string[]> {
  const root = join(await accountIn(states), 'texts')
  const texts: string[] = []
  // An unfinished file that a power cut has left is no record's.
  const records = of === undefined ? (await namesIn(root)).filter(name => !name.startsWith('.')) : [of]
  for (const record of records) {
    const names = (await namesIn(join(root, record))).filter(name => /^[0-9a-f]{64}$/.test(name))
    for (const name of names) texts.push(await readFile(join(root, record, name), 'utf8'))
  }
  return texts
}

/** What is wrong with the act after the daemon has come up again, in words; nothing where all is as promised. */
export function lossOf(
  act: Act,
  {
    heard,
    subjects,
    waiting,
  }: { heard: readonly ReceivedRequest[]; subjects: Subjects; waiting: readonly string[] },
): string[] {
  const { subject, word } = act
  const isStored = subject.isStored(word)
  const isWaiting = waiting.some(text => text.startsWith(act.text))
  const about = `${subject.kind} by ${act.style} (written ${act.written}, ended ${act.end})`
  const wrong: string[] = []
  if (act.end === 'done' && !isStored)
    wrong.push(`${about}: close was answered well, and the service lacks it`)
  if (act.written >= Buffer.byteLength(act.text) && !isStored && !isWaiting)
    wrong.push(`${about}: the text is nowhere`)
  if (subject.copies(word) > 1) wrong.push(`${about}: ${subject.copies(word)} of it`)
  const twice = subjects.sentTwice(heard, word)
  if (twice !== undefined) wrong.push(`${about}: sent twice: ${twice}`)
  return wrong
}

/** What its user does afterwards; what is wrong where the service does not have the edit once in the end. */
export async function finish(testbed: Testbed, { subject, word, text }: Act): Promise<string[]> {
  const ends: string[] = []
  let again = text
  let stale = 0
  let shown: string | undefined
  // What was made by more than one request has a draft that goes with the next save, also where all of it is stored.
  const least = subject.made === undefined ? 0 : 2
  for (let tries = 0; tries < patientTries && (tries < least || !subject.isStored(word)); tries++) {
    // Its writer tries again; where only a part of it was stored, what was made shows the whole text.
    const made = tries === 0 ? undefined : subject.made?.(word)
    const path = made === undefined ? subject.path : `reports/${made}.json`
    const draft = `.calcfs/drafts/${made === undefined ? subject.draft : `${made}.json`}`
    if (made !== undefined) again = shown ??= await textOf(testbed, path)
    const end = await outcome(overwrite(testbed, path, again))
    ends.push(end)
    if (subject.isStored(word)) continue
    // Whether it was made is not known to calcfs; its user has looked, and begins again.
    if (end === 'EIO' && subject.kind === 'new report') {
      await outcome(testbed.files.unlink(draft))
      if (tries > 2) await new Promise(wake => setTimeout(wake, 1_500))
    } else if (end === 'ESTALE') stale++
    // Of two requests one was carried out: a program that has read the result may insist, or edits that.
    if (stale === 1 || (stale > 1 && made !== undefined))
      await outcome(testbed.files.readFile(`${draft.replace(/\.json$/, '')}.theirs.json`))
    else if (stale > 1) {
      await outcome(testbed.files.unlink(draft))
      await testbed.pass(3_000)
      again = subject.edited(await subject.read(), word)
    }
    // A service that was away is looked for every two seconds.
    if (end !== 'done' && end !== 'ESTALE') await testbed.pass(tries === 0 ? 0 : 2_100)
  }
  if (subject.copies(word) === 1 && subject.isStored(word)) return []
  const isThere = subject.isStored(word) ? '' : ' and not whole'
  return [`${subject.kind}: saved again (${ends}) it is there ${subject.copies(word)} times${isThere}`]
}

/** A change that was never answered is waited for four times as long as it was given (SAVE-17). */
const patientTries = 12

/** Gives up what still waits, so that the next case begins with nothing. */
export async function clear(testbed: Testbed, records: readonly string[] = []): Promise<void> {
  for (const path of (await textsWaiting(testbed, records)).keys()) await outcome(testbed.files.unlink(path))
}
