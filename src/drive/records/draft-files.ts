// Draft files in `.calcfs/drafts/`: the unsaved texts of an account, each with its reason, and the other text of a conflict.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitsElsewhere } from '../../advice.js'
import type { Identities } from '../../cache/identity.js'
import type { Draft } from '../../edit/journal/draft.js'
import { type DraftMeta, explain, shortWhy, stateWord, whatToDo } from '../../edit/journal/draft-meta.js'
import type { Begun, Drafts, LeftDraft } from '../../edit/journal/drafts.js'
import {
  damagedEnding,
  draftEnding,
  draftStem,
  type RecordKey,
  recordPhrase,
  savedKeyOf,
} from '../../edit/journal/record-key.js'
import { type TextHistory, textHash } from '../../edit/journal/text-history.js'
import { mayBeMade } from '../../edit/save/create.js'
import { Failure } from '../../failure.js'
import { instant } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import { isoText } from '../../system/time-text.js'
import type { DraftLine } from '../interface/control.js'
import { nodeOfKey, pathOfNode } from '../nodes/node.js'
import type { TextSnapshot } from './source.js'

/** `changed` is told when a name or a text here is another one. */
export function openDraftFiles(
  drafts: Drafts,
  history: TextHistory,
  identities: Identities,
  changed: () => void,
) {
  const live = new Map<string, Draft>()

  /** The note beside a text that is begun: its record as it is now, and of a share its project. */
  function thingOf({ kind, of, id, project }: RecordKey): DraftMeta['thing'] {
    const thing = of === 'share' ? { kind: 'project' as const, id: project ?? '' } : { kind: of, id }
    return of !== 'share' && kind === 'new' ? undefined : identities.known(thing)
  }

  function track(draft: Draft): Draft {
    draft.keeper = {
      changed,
      ended() {
        live.delete(draft.id)
        changed()
      },
      keep: (key, bytes) => history.remember(key, bytes, 'dropped'),
    }
    live.set(draft.id, draft)
    return draft
  }
  for (const draft of drafts.found) track(draft)

  const isText = ({ damage, size }: Draft): boolean => size > 0 || damage !== undefined
  const unsent = (): Draft[] => [...live.values()].filter(isText)

  /** These, and those that a program has emptied: unless it writes another text they come back. */
  const waiting = (): Draft[] => [...live.values()].filter(draft => isText(draft) || draft.emptied)

  function files(): Map<string, DraftFile> {
    const found = new Map<string, DraftFile>()
    for (const { draft, name, ending } of draftNames([...waiting(), ...drafts.others(id => live.has(id))])) {
      found.set(name + ending, { draft, part: 'text' })
      if (draft.meta.why === undefined) continue
      found.set(`${name}${ending}.why`, { draft, part: 'why' })
      if (draft.damage === undefined && draft.meta.why.kind === 'conflict')
        found.set(`${name}.theirs.json`, { draft, part: 'theirs' })
    }
    return found
  }

  function fileOf(name: string): DraftFile {
    const file = files().get(name)
    if (file === undefined) throw gone(name)
    return file
  }

  const isOwn = (draft: LeftDraft): draft is Draft => live.has(draft.id)
  const texts = (): { readonly name: string; readonly draft: LeftDraft }[] =>
    [...files()].flatMap(([name, { draft, part }]) => (part === 'text' ? [{ name, draft }] : []))

  async function read(name: string): Promise<TextSnapshot> {
    const file = fileOf(name)
    const bytes = await partBytes(file, name).catch(thrown => {
      throw isMissing(thrown) ? gone(name, thrown) : thrown
    })
    return { bytes, mtime: instant(file.draft.meta.changed) }
  }

  return {
    begin: (key: RecordKey, { base, text }: Omit<Begun, 'thing'>): Promise<Draft> =>
      drafts.create(key, { base, text, thing: thingOf(key) }).then(track),
    unsent,
    /** Emptied by a program when what they are about may have been made already: the next text is not another one's. */
    emptied: (): readonly Draft[] =>
      [...live.values()].filter(({ size, meta }) => size === 0 && meta.apart !== true && mayBeMade(meta)),
    names: (): readonly string[] => [...files().keys()],
    /** Each unsaved text of the account once, for a list: those of other mounts are theirs alone to save or give up. */
    all: texts,
    list: (): readonly { readonly name: string; readonly draft: Draft }[] =>
      texts().flatMap(({ name, draft }) => (isOwn(draft) ? [{ name, draft }] : [])),
    read,
    /** What it shows: a program that has read the text that stands against its own may save its own over it. */
    async open(name: string): Promise<TextSnapshot> {
      const text = await read(name)
      const { draft, part } = fileOf(name)
      if (part !== 'theirs' || draft.key === undefined || !isOwn(draft)) return text
      const theirs = Buffer.from(text.bytes).toString()
      // The text is the record's, whatever the draft is written in.
      await history.remember(savedKeyOf(draft.key), theirs, 'read')
      await draft.change({ base: textHash(theirs) })
      return text
    },
    /** The daemon ends: the next mount adopts what is unsent. */
    async leave(): Promise<void> {
      await Promise.all([...live.values()].map(draft => draft.leave()))
    },
    /** The draft to which this name belongs; Failure 'absent' for none, 'busy' for another mount's. */
    named(name: string): Draft {
      const { draft } = fileOf(name)
      if (isOwn(draft)) return draft
      throw new Failure('busy', `${name}: this unsaved text is another mount's; save it or give it up there`)
    },
  }
}

export type DraftFiles = ReturnType<typeof openDraftFiles>

/** What waited when a program emptied it, and the daemon ended before another text came, is the draft again. */
export async function refill(draft: Draft, history: TextHistory): Promise<void> {
  const { key, emptied } = draft
  const text = key && emptied !== undefined ? history.recall(key, emptied) : undefined
  // What is no UTF-8 stays in the history alone.
  if (text === undefined || textHash(text) !== emptied) return
  await draft.replace(Buffer.from(text), () => {})
  await draft.change({})
}

const gone = (name: string, cause?: unknown): Failure =>
  new Failure('absent', `${name}: there is no such draft any more`, { cause })

interface DraftFile {
  readonly draft: Draft | LeftDraft
  readonly part: 'text' | 'why' | 'theirs'
}

async function partBytes({ draft, part }: DraftFile, name: string): Promise<Uint8Array> {
  switch (part) {
    case 'text':
      if (!('read' in draft)) return readFile(join(draft.directory, 'text'))
      return draft.damage === undefined ? draft.whole() : draft.remains()
    case 'why':
      return Buffer.from(explain(draft, name.replace(/\.why$/, '')) ?? '')
    case 'theirs':
      return readFile(join(draft.directory, 'theirs.json'))
  }
}

/** Each with its name, of which two of one record differ, over remounts too: the text that was begun first has the bare one. */
function draftNames<One extends LeftDraft>(
  drafts: readonly One[],
): readonly { readonly draft: One; readonly name: string; readonly ending: string }[] {
  const taken = new Set<string>()
  const inOrder = drafts.toSorted((one, other) => one.meta.created - other.meta.created)
  return inOrder.map(draft => {
    const plain = draftStem(draft.key, draft.id)
    const ending = draftEnding(plain) + (draft.damage === undefined ? '' : damagedEnding)
    const name = taken.has(plain + ending) ? `${draft.id.slice(0, 8)}~${plain}` : plain
    taken.add(name + ending)
    return { draft, name, ending }
  })
}

/** The same facts of drafts that no mount of this account tells of; `held` are those of running processes. */
export const leftDraftFacts = (
  left: readonly LeftDraft[],
  held: readonly LeftDraft[] = [],
): readonly DraftLine[] =>
  draftNames([...left, ...held]).map(({ draft, name, ending }) => {
    const one = { name: name + ending, draft }
    return held.includes(draft) ? factsElsewhere(one, draft.meta.owner.pid) : draftFacts(one)
  })

/** Of a draft that only another process saves or gives up; undefined is one that has ended. */
export const factsElsewhere = (
  one: { readonly name: string; readonly draft: LeftDraft },
  process: number | undefined,
): DraftLine => ({ ...draftFacts(one), process, whatToDo: `It ${waitsElsewhere(process)}.` })

export function draftFacts({ name, draft }: { name: string; draft: LeftDraft }): DraftLine {
  const { key, meta, size, written } = draft
  const node = nodeOfKey(key)
  return {
    name,
    record: key === undefined ? 'record' : `${key.kind === 'new' ? 'new ' : ''}${recordPhrase(key)}`,
    path: node === undefined ? undefined : pathOfNode(node),
    state: stateWord(meta),
    since: isoText(written),
    size,
    why: meta.why && shortWhy(meta.why),
    whatToDo: whatToDo(draft, name),
  }
}
