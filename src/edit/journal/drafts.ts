// Set of drafts: new ones, and those that an earlier daemon left behind.
import { randomUUID } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Failure, rethrow } from '../../failure.js'
import { type Instant, instant } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import { keepNameOf, makeDirectory, namesIn } from '../../system/own-file.js'
import { Draft, placeDraft, unlessFull } from './draft.js'
import { type DraftMeta, type DraftReason, keySchema, lossWhy, newMeta, readMeta } from './draft-meta.js'
import { isOwnerAlive, noOwner, type Owner, takeLock, thisProcess } from './lock.js'
import type { RecordKey } from './record-key.js'
import { textHash } from './text-history.js'

export interface Begun {
  readonly text?: Uint8Array | undefined
  readonly base?: string | undefined
  readonly thing?: DraftMeta['thing']
}

export interface Damage {
  readonly directory: string
  readonly cause: unknown
}

/**
 * Opens the drafts of one service and user. A draft whose process still runs is left to it, and only shown: several
 * mounts of an account share one state directory. No damage in it ever stops a mount.
 */
export async function openDrafts(stateDirectory: string, now: () => Instant) {
  const root = join(stateDirectory, 'drafts')
  await makeDirectory(root).catch(rethrow)
  await keepNameOf(root)
  const owner = await thisProcess()
  sweepUnfinished(root, now())
  const found: Draft[] = []
  const damaged: Damage[] = []
  const letGo = draftNames(root).length === 0 ? undefined : await adopting(stateDirectory)
  try {
    for (const name of letGo === undefined ? [] : draftNames(root)) {
      try {
        const draft = await adopt(join(root, name), owner, now)
        if (draft !== undefined) found.push(draft)
      } catch (cause) {
        damaged.push({ directory: join(root, name), cause })
      }
    }
  } finally {
    letGo?.()
  }
  /** A new draft of a record, with this text or empty; `base` is the text its writer has read, `thing` what the record is now, where known. */
  async function create(key: RecordKey, { text, base, thing }: Begun = {}): Promise<Draft> {
    const meta: DraftMeta = {
      ...newMeta(owner, now()),
      key: keySchema.parse(key),
      ...(base === undefined ? {} : { base: textHash(base) }),
      ...(thing === undefined ? {} : { thing }),
    }
    const directory = join(root, randomUUID())
    await placeDraft(directory, text ?? new Uint8Array(), meta)
    return new Draft(directory, meta, now)
  }
  return {
    create,
    /** Those left behind by a daemon that ended, adopted now; nothing of them is sent by itself. */
    found,
    /** Drafts that could not even be read; they stay untouched on disk. */
    damaged,
    /** Those of the account's other mounts as they are now, to be looked at: all but those with an id of one's own. */
    others: (isOwn: (id: string) => boolean) => draftsOfOthers(root, owner, isOwn),
  }
}

export type Drafts = Awaited<ReturnType<typeof openDrafts>>

/** A look takes a millisecond. */
const looksAtMost = 1_000

/**
 * Waits while another mount adopts: of two that look at a draft at once both would. Undefined where that takes long: the next mount
 * adopts what is left then. A disk that takes no lock does not keep the drafts from their user.
 */
async function adopting(stateDirectory: string): Promise<(() => void) | undefined> {
  try {
    for (let looks = 0; looks < looksAtMost; looks += 1) {
      const letGo = await takeLock(stateDirectory, 'adopting')
      if (letGo !== undefined) return letGo
      await setImmediate()
    }
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return () => {}
  }
}

/** Another mount may end one of them meanwhile: then it is none. */
function draftsOfOthers(
  root: string,
  { pid, started }: Owner,
  isOwn: (id: string) => boolean,
): readonly LeftDraft[] {
  return draftNames(root).flatMap(id => {
    if (isOwn(id)) return []
    const directory = join(root, id)
    const meta = readMeta(join(directory, 'meta.json'))
    if (meta === undefined || (meta.owner.pid === pid && meta.owner.started === started)) return []
    return heldDraft(directory, meta) ?? []
  })
}

/** As another process has it now, which may be writing to it. */
function heldDraft(directory: string, meta: DraftMeta): LeftDraft | undefined {
  const text = statSync(join(directory, 'text'), { throwIfNoEntry: false })
  if (text === undefined || text.size === 0) return undefined
  const written = instant(meta.written ?? meta.changed)
  const { key } = meta
  return { id: basename(directory), directory, key, meta, size: text.size, written, damage: undefined }
}

const draftNames = (root: string): readonly string[] => namesIn(root).filter(name => !name.startsWith('.'))

export type LeftDraft = Pick<Draft, 'id' | 'directory' | 'key' | 'meta' | 'size' | 'written' | 'damage'>

/**
 * Those that no running process has, as the next mount would show them; those that one holds; what cannot be read is
 * among the damaged. Changes nothing.
 */
export async function readLeftDrafts(
  stateDirectory: string,
  now: () => Instant,
): Promise<{ left: readonly LeftDraft[]; held: readonly LeftDraft[]; damaged: readonly Damage[] }> {
  const root = join(stateDirectory, 'drafts')
  const left: LeftDraft[] = []
  const damaged: Damage[] = []
  const held: LeftDraft[] = []
  for (const name of draftNames(root)) {
    try {
      const directory = join(root, name)
      const meta = readMeta(join(directory, 'meta.json'))
      const isHeld = meta !== undefined && (await isOwnerAlive(meta.owner))
      const draft = isHeld ? heldDraft(directory, meta) : await lookAt(directory, meta, now)
      if (draft !== undefined) (isHeld ? held : left).push(draft)
    } catch (cause) {
      // A mount has adopted it meanwhile, and tells of it.
      if (!isMissing(cause)) damaged.push({ directory: join(root, name), cause })
    }
  }
  return { left, held, damaged }
}

/** As the next mount would show it; undefined where nothing is lost with it. */
async function lookAt(
  directory: string,
  meta: DraftMeta | undefined,
  clock: () => Instant,
): Promise<LeftDraft | undefined> {
  const draft = new Draft(directory, meta ?? newMeta(noOwner, clock()), clock)
  try {
    if (isNothing(draft)) return undefined
    const { id, key, size, written, damage } = draft
    const now = { ...draft.meta, ...afterwards(meta), ...lossOf(draft) }
    return { id, directory, key, size, written, damage, meta: now }
  } finally {
    await draft.close()
  }
}

/** Left by a daemon that was killed: drafts given up, and directories never moved into place, with no text in them yet. */
function sweepUnfinished(root: string, now: Instant): void {
  for (const name of namesIn(root).filter(name => unfinished.test(name))) {
    const path = join(root, name)
    // Another mount may have moved or removed it meanwhile.
    const status = statSync(path, { throwIfNoEntry: false })
    const text = /^\.gone/.test(name) ? undefined : statSync(join(path, 'text'), { throwIfNoEntry: false })
    const isOld = status !== undefined && now - status.mtimeMs > unfinishedMs
    if (isOld && (text?.size ?? 0) === 0) rmSync(path, { recursive: true, force: true })
  }
}

const unfinished = /^\.(gone-)?[0-9a-f]{8}-[0-9a-f-]{27}$/
/** Milliseconds that making a draft may take on a slow disk: another mount may be at it. */
const unfinishedMs = 10 * 60_000

/** Undefined where the draft is another's, or where there is nothing in it to keep. */
async function adopt(directory: string, owner: Owner, now: () => Instant): Promise<Draft | undefined> {
  const meta = readMeta(join(directory, 'meta.json'))
  if (meta !== undefined && (await isOwnerAlive(meta.owner))) return undefined
  const draft = new Draft(directory, { ...(meta ?? newMeta(owner, now())), owner }, now)
  if (isNothing(draft)) return await draft.discard().then(() => undefined)
  // On a full disk the note stays as it was; the text is shown all the same, and the next mount comes to the same end.
  await draft.change({ ...afterwards(meta), ...lossOf(draft) }).catch(unlessFull)
  return draft
}

/** Of a text that the disk has damaged this is what to know, whatever its save had come to. */
const lossOf = ({ damage }: Draft): { why?: DraftReason } =>
  damage === undefined ? {} : { why: lossWhy(damage) }

/** Nothing is lost with it: empty, or letter for letter what the service already has, and no save of it was refused. */
function isNothing(draft: Draft): boolean {
  const { state, base, saved, made } = draft.meta
  const isEmpty = draft.size === 0 && draft.damage === undefined
  if (state === 'refused') return isEmpty && draft.emptied === undefined && made === undefined
  if (state !== 'editing') return false
  const hash = draft.hash()
  return isEmpty || hash === base || hash === saved
}

function afterwards(meta: DraftMeta | undefined): { state: DraftMeta['state']; why: DraftReason } {
  if (meta === undefined) {
    const sentence = 'the note beside this text was damaged: which record it is of is not known'
    return { state: 'refused', why: { kind: 'another-thing', sentence } }
  }
  const { state, why, key } = meta
  const sent = 'the daemon ended while this was being sent'
  if (state === 'outcome-unknown') return { state, why: why ?? { kind: 'internal', sentence: sent } }
  if (state === 'sending' || state === 'in-flight') {
    // No operation lists reports, so whether a new one was made cannot be looked up.
    const isUnlisted = key?.kind === 'new' && key.of === 'report'
    if (!isUnlisted) return { state: 'in-flight', why: { kind: 'internal', sentence: sent } }
    const sentence = `${sent}, and whether it was made is not known`
    return { state: 'outcome-unknown', why: { kind: 'outcome-unknown', sentence } }
  }
  const unsaved = { kind: 'internal', sentence: 'the daemon ended before this was saved' }
  return { state: 'refused', why: state === 'refused' ? (why ?? unsaved) : unsaved }
}
