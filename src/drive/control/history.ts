// Control of `calcfs history` and `calcfs restore`: the texts kept of a record, and one of them saved again.
import type { TextUse } from '../../edit/journal/text-marks.js'
import { tryObject } from '../../edit/save/reconcile.js'
import { asFailure, Failure, isAbsent, unlessFailure } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { attempt } from '../../maybe-promise.js'
import { prettyPrint } from '../../record/json/print.js'
import { isoText } from '../../system/time-text.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult, HistoryLine } from '../interface/control.js'
import { askAgain, type EditableNode, nodeKey, pathOfNode } from '../nodes/node.js'
import { refuseReadOnly, saveBeside } from '../records/source.js'
import { recordNodeAt } from './path-node.js'
import {
  type ComparedText,
  changesBetween,
  nothingChanged,
  type TextVersion,
  textVersions,
} from './text-versions.js'

export function openHistoryControl(parts: ControlParts) {
  const { tree, until, writeSide } = parts
  const { dialect } = writeSide.ports

  async function recordAt(path: string): Promise<EditableNode> {
    const found = await recordNodeAt(tree, path, until.metadata())
    if (found !== undefined) return writeSide.meant(found)
    throw new Failure(
      'refused',
      `${path} has no history: only records have one, which are ${fixedNames.project}, ${fixedNames.calculation}, shares, reports and ${fixedNames.order}`,
    )
  }

  async function presentText(node: EditableNode): Promise<string> {
    const { bytes } = await writeSide.source(node).produce(until.metadata())
    return Buffer.from(bytes).toString()
  }

  async function history({ path }: CallArgument<'history'>): Promise<CallResult<'history'>> {
    const node = await recordAt(path)
    const now = await presentText(node).catch((thrown: unknown) => unlessFailure(thrown) ?? asFailure(thrown))
    await parts.history.settled()
    const all = await textVersions(node, parts)
    const unsaved = writeSide.records.draftOf(nodeKey(node)) !== undefined
    if (!unsaved && all.length === 0 && now instanceof Failure && isAbsent(now))
      throw new Failure('absent', `${path}: there is nothing of this name, and no text of it was met here`, {
        cause: now,
      })
    const present = now instanceof Failure ? undefined : compared(node, now)
    const isSaid = (version: TextVersion): boolean =>
      present !== undefined && changesBetween(present, version, dialect.plain) === nothingChanged
    const listed = all
      .map((version, place) => ({ version, changed: changeOf(version, storedBefore(all, place)) }))
      // Two spellings of one text are one to a reader of the list.
      .filter(({ changed }) => changed !== nothingChanged)
    const said = listed.find(({ version }) => isSaid(version))
    return {
      record: pathOfNode(node),
      unsaved,
      versions: listed.map(one => lineOf(one.version, one.changed, one === said)),
    }
  }

  const changeOf = (version: TextVersion, before: TextVersion | undefined): string =>
    before === undefined ? 'the oldest that is kept' : changesBetween(before, version, dialect.plain)

  function lineOf(version: TextVersion, changed: string, isNow: boolean): HistoryLine {
    const { number, at, how, stored, mount, text } = version
    return {
      number,
      at: isoText(at),
      how: words[how],
      stored,
      mount: parts.mountNamed(mount),
      changed,
      isNow,
      size: Buffer.byteLength(text),
    }
  }

  async function versionAt(path: string, node: EditableNode, number: number): Promise<TextVersion> {
    const all = await textVersions(node, parts)
    const found = all.find(version => version.number === number)
    if (found !== undefined) return found
    throw new Failure(
      'absent',
      `${path} has no text @${number}; \`calcfs history\` of it lists those that are kept`,
    )
  }

  async function textAt(path: string, number?: number): Promise<ComparedText & { stored: boolean }> {
    const node = await recordAt(path)
    if (number !== undefined) return versionAt(path, node, number)
    const draft = writeSide.records.draftOf(nodeKey(node))
    const text = draft === undefined ? await presentText(node) : draft.text()
    return { ...compared(node, text), stored: draft === undefined }
  }

  async function restore({ path, number }: CallArgument<'restore'>): Promise<CallResult<'restore'>> {
    const node = await recordAt(path)
    const version = await versionAt(path, node, number)
    refuseUnsaved(path, node)
    const context = until.save()
    const source = writeSide.source(node)
    refuseReadOnly(source)
    // The service's present text is asked for, not remembered.
    askAgain(parts.catalog, node)
    const { bytes } = await attempt(() => source.produce(context), orGone(path, number))
    const now = compared(node, Buffer.from(bytes).toString())
    refuseOther(path, version, now)
    const changed = changesBetween(now, version, dialect.plain)
    await saveBeside(source, { base: bytes, text: Buffer.from(version.text), isOver: true }, context)
    parts.failureLog.settled(nodeKey(node))
    return { record: pathOfNode(node), changed }
  }

  function refuseUnsaved(path: string, node: EditableNode): void {
    if (writeSide.records.draftOf(nodeKey(node)) === undefined) return
    throw new Failure(
      'waiting',
      `${path} shows a text that is not saved: send it or drop it first (calcfs drafts list), which keeps it in the history`,
    )
  }

  /** A number may have been another thing's when the text was kept. */
  function refuseOther(path: string, version: TextVersion, now: ComparedText): void {
    if (version.record === undefined || now.record === undefined) return
    if (!dialect.isAnother(version.record, now.record)) return
    throw new Failure(
      'another-thing',
      `@${version.number} of ${path} is the text of another thing that had this number before; nothing is sent`,
    )
  }

  return {
    history,
    async historyText({ path, number, isPlain }: CallArgument<'historyText'>) {
      const { text, record, stored } = await textAt(path, number)
      return { stored, text: isPlain && record !== undefined ? prettyPrint(dialect.plain(record)) : text }
    },
    restore,
  }
}

/** A text that the service never had changed nothing: what it would have changed, and what was changed, is against a stored one. */
const storedBefore = (all: readonly TextVersion[], place: number): TextVersion | undefined =>
  all.slice(place + 1).find(({ stored }) => stored)

const compared = (node: EditableNode, text: string): ComparedText => ({
  text,
  record: node.kind === 'order' ? undefined : tryObject(text),
})

const words: Readonly<Record<TextUse, string>> = {
  saved: 'saved',
  sent: 'sent, and not known to be stored',
  dropped: 'not saved, and written over',
  discarded: 'not saved, and given up',
  read: 'read',
  shown: 'shown',
  replaced: 'replaced',
  outcome: 'as the service stored it',
}

const orGone =
  (path: string, number: number) =>
  (thrown: unknown): never => {
    if (!isAbsent(thrown)) throw thrown
    throw new Failure(
      'absent',
      `${path} is gone on the service, so no save can bring it back; calcfs history show ${path}@${number} prints the text`,
      { cause: thrown, said: thrown.said },
    )
  }
