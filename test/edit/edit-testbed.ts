// An edit layer of its own in a scratch directory: texts, drafts and a saver over a service in memory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Draft } from '../../src/edit/journal/draft.js'
import { openDrafts } from '../../src/edit/journal/drafts.js'
import { openTextHistory, type TextHistory } from '../../src/edit/journal/text-history.js'
import type { EditableRecord } from '../../src/edit/save/editable.js'
import { createSaver, type SaveResult } from '../../src/edit/save/save.js'
import { Failure } from '../../src/failure.js'
import { type Instant, instant, type RequestContext } from '../../src/remote/remote.js'

const context: RequestContext = { deadline: instant(Number.MAX_SAFE_INTEGER), priority: 'user' }

/** A clock that a test turns by hand; in milliseconds. */
export function handClock(start = 1_700_000_000_000): {
  now: () => Instant
  turn: (milliseconds: number) => void
} {
  let at = start
  return {
    now: () => instant(at),
    turn: milliseconds => {
      at += milliseconds
    },
  }
}

export async function scratch(t: { teardown: (end: () => Promise<void>) => void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-edit-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

export interface Room {
  readonly texts: TextHistory
  /** As a program does it: a new draft with this text, saved. */
  write(record: EditableRecord, text: string): Promise<SaveResult>
  /** Closes every draft begun here. */
  end(): Promise<void>
}

export async function openRoom(stateDirectory: string): Promise<Room> {
  const { now } = handClock()
  const texts = openTextHistory({ stateDirectory, mount: '/mnt', now })
  const drafts = await openDrafts(stateDirectory, now)
  const saver = createSaver(texts, now)
  const begun: Draft[] = []
  const end = async () => {
    for (const draft of begun) await draft.close()
  }
  const write = async (record: EditableRecord, text: string) => {
    const draft = await drafts.create(record.key)
    begun.push(draft)
    await draft.write(Buffer.from(text), 0)
    return saver.save({ record, draft, own: undefined }, context)
  }
  return { texts, write, end }
}

/** The failure that a promise must end in. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new Error('this should have failed')
}
