// Control of `calcfs why` and `calcfs refresh`: the known failures of a path, and a new request for it.
import { posix } from 'node:path'
import { adviceFor } from '../../advice.js'
import { signInEnded } from '../../cache/health.js'
import type { Draft } from '../../edit/journal/draft.js'
import { capital, explain } from '../../edit/journal/draft-meta.js'
import { asFailure, Failure, isA, looksAgain } from '../../failure.js'
import { parentOf } from '../../layout.js'
import { attempt } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import { localText } from '../../system/time-text.js'
import type { ControlParts } from '../context.js'
import { type LoggedFailure, removalVerbs } from '../failure-log.js'
import type { CallArgument, CallResult } from '../interface/control.js'
import {
  type DirectoryNode,
  isDirectory,
  isEditable,
  type Node,
  nodeKey,
  nodeOfKey,
  thingOf,
} from '../nodes/node.js'
import { readOnlyBecause } from '../nodes/refusals.js'
import { awayMs, emptyMs } from '../records/open-record.js'
import { pauseMs } from '../removal/burst.js'
import { aboutRemoval } from '../removals.js'
import { nodeAt, placeOf } from './path-node.js'

const scratchSentence = (path: string): string =>
  `${path}: this file stays on this machine and never reaches the service; a report or a share is made under a name like new.json or new-dyes.json.`

const awaySentence = (path: string): string =>
  `${path} was removed a moment ago: unless a program makes it again within ${awayMs / 1000} s, it is there again as the service has it, for this drive deletes only with --access manage.`

const emptySentence = (path: string, then: string): string =>
  `${path}: it is empty, and an empty text is never saved: unless a program writes it within ${emptyMs / 1000} s, it is ${then}. A line like \`jq . f > f\` empties f before jq reads it: write another file, and move that over f.`

export function openPathControl(parts: ControlParts) {
  const { content, tree, drafts, failureLog, xattrs, writeSide, health, until } = parts

  /** Of a disk that takes nothing every path has to tell, and of a sign-in that has ended. */
  async function why({ path: given }: CallArgument<'why'>): Promise<CallResult<'why'>> {
    const path = await placeOf(tree, given, until.metadata())
    const [explained, places] = await Promise.all([whyAt(path), parts.placeTroubles()])
    const { signedOut } = health
    const isTold = explained.sentences.some(sentence => sentence.includes('calcfs login'))
    const troubles = [
      ...places,
      ...(signedOut === undefined || isTold ? [] : [ended(capital(signInEnded(signedOut.failure)))]),
    ]
    if (troubles.length === 0) return explained
    return { wrong: true, sentences: [...(explained.wrong ? explained.sentences : []), ...troubles] }
  }

  async function whyAt(path: string): Promise<CallResult<'why'>> {
    const looked = await attempt<Node | Failure>(() => tree.walk(path, until.metadata()), asFailure)
    const node = looked instanceof Failure ? undefined : looked
    const unsaved = node === undefined ? undefined : unsavedAt(node)
    if (unsaved !== undefined) return { wrong: true, sentences: unsaved }
    const removed = aboutRemoval(path, node, writeSide.burst, parts.clock.now())
    if (removed.length > 0) return { wrong: true, sentences: removed }
    if (node !== undefined && isEditable(node) && writeSide.records.known(nodeKey(node))?.isAway)
      return { wrong: true, sentences: [awaySentence(path)] }
    if (node !== undefined && writeSide.records.draftOf(nodeKey(node))?.size === 0) {
      const then = writeSide.meant(node).kind === 'new' ? 'gone' : 'there again as it was'
      return { wrong: true, sentences: [emptySentence(path, then)] }
    }
    if (node?.kind === 'link' && node.place === undefined) return whyAtLink(path, node.to)
    if (node?.kind === 'scratch') return { wrong: false, sentences: [scratchSentence(path)] }
    const met = failureLog.met(path, node && nodeKey(node))
    const stale = node && xattrs.all(path, node).stale
    const inside =
      node !== undefined && isDirectory(node) ? failureLog.refusedInside(path, node.kind) : undefined
    const latest = inside !== undefined && isNews(inside.met, met) ? inside : met && { path, met }
    const unmade = writeSide.rights.refusal({ kind: 'root' })
    const sentences = [
      ...(latest === undefined ? [] : metSentences(latest.path, latest.met)),
      ...(stale === undefined ? [] : staleSentences(stale)),
      ...otherThingSentences(node),
      ...(looked instanceof Failure && met === undefined ? lookSentences(path, looked, unmade) : []),
    ]
    if (sentences.length > 0) return { wrong: true, sentences }
    const fixed = node?.kind === 'content' ? readOnlyBecause(node) : undefined
    const unchanging = (node && writeSide.rights.refusal(node)?.message) ?? fixed
    return {
      wrong: false,
      sentences: [
        `${path}: nothing is wrong, and nothing failed here lately.`,
        ...(unchanging === undefined ? [] : [`It cannot be changed: ${ended(unchanging)}`]),
      ],
    }
  }

  /** A program that edits through a link makes its file beside that. */
  async function whyAtLink(path: string, to: string): Promise<CallResult<'why'>> {
    const there = await whyAt(posix.resolve(parentOf(path), to))
    const beside = failureLog.refusedInside(parentOf(path))
    if (beside === undefined) return there
    const here = metSentences(beside.path, beside.met)
    return { wrong: true, sentences: [...here, ...(there.wrong ? there.sentences : [])] }
  }

  function otherThingSentences(node: Node | undefined): readonly string[] {
    const thing = node === undefined ? undefined : thingOf(node)
    const other = thing && parts.identities.changeOf(thing)
    if (other === undefined) return []
    return [
      `Since ${localText(other.at)}: ${other.sentence}.`,
      'Texts of the earlier one that were not saved are kept: `calcfs drafts list`.',
    ]
  }

  /** Of a record, or of a text below `.calcfs/drafts/`. */
  function unsavedAt(node: Node): readonly string[] | undefined {
    const { records } = writeSide
    const shown =
      node.kind === 'draft-text'
        ? drafts.named(node.name)
        : (records.draftOf(nodeKey(node)) ?? records.draftOf(nodeKey(writeSide.meant(node))))
    /** The disk has damaged this text of the record: it is not shown in its place. */
    const isDamaged = ({ damage, key }: Draft): boolean => {
      const of = damage === undefined ? undefined : nodeOfKey(key)
      return of !== undefined && nodeKey(of) === nodeKey(node)
    }
    const told = drafts.list().filter(({ draft }) => draft.id === shown?.id || isDamaged(draft))
    const lines = told.flatMap(({ draft, name }) => explain(draft, name)?.trimEnd().split('\n') ?? [])
    return lines.length === 0 ? undefined : lines
  }

  /** A text of this machine, or of an answer that counts still, says nothing of the service. */
  async function refresh({ path }: CallArgument<'refresh'>): Promise<CallResult<'refresh'>> {
    const context = until.metadata()
    const [refreshed] = await Promise.all([
      refreshedAt(path, context).catch(asFailure),
      health.check(context),
    ])
    const { signedOut, outage } = health
    if (!(refreshed instanceof Failure)) {
      if (signedOut !== undefined) throw withoutSignIn(signedOut.failure)
      return { stale: refreshed.stale ?? outage?.failure.message }
    }
    if (refreshed.kind === 'unauthenticated' && signedOut !== undefined) throw withoutSignIn(refreshed)
    if (outage === undefined || !isA('passing', refreshed)) throw refreshed
    throw new Failure('unreachable', `the service does not answer: ${refreshed.message}`, {
      cause: refreshed,
      said: refreshed.said,
    })
  }

  async function refreshedAt(given: string, context: RequestContext): Promise<CallResult<'refresh'>> {
    const { path, node } = await nodeAt(tree, given, context)
    const directory = directoryFor(node) ?? (await tree.directory(parentOf(path), context))
    await tree.refresh(directory, context)
    await lookAgain(node, directory, context)
    parts.news.tell('all')
    return { stale: xattrs.all(path, node).stale }
  }

  /** So that the new answer is there when the command ends, or that there is none. */
  async function lookAgain(node: Node, directory: DirectoryNode, context: RequestContext): Promise<void> {
    if (node.kind === 'content') await content.renew(node.content, context)
    if (node.kind === 'record') await writeSide.source(node).produce(context)
    else await tree.list(directory, context)
  }

  return { why, refresh }
}

const withoutSignIn = (failure: Failure): Failure =>
  new Failure('unauthenticated', signInEnded(failure), { cause: failure, said: failure.said })

/** The directory whose freshness is a node's; undefined where it is that of the one it lies in. */
function directoryFor(node: Node): DirectoryNode | undefined {
  if (isDirectory(node)) return node
  if (node.kind !== 'record') return undefined
  if (node.of === 'share') return { kind: 'shares', project: node.project }
  return { kind: node.of, id: node.id, title: '' } as DirectoryNode
}

/** A failure at a path, without the path that most sentences begin with; the service's own words; the advice. */
function sentencesOf(beginning: string, path: string, failure: Failure): readonly string[] {
  const { message, said } = failure
  return [
    `${beginning}: ${ended(withoutPath(message, path).replace(looksAgain, ''))}`,
    ...(said === undefined ? [] : [`The service said: ${said}`]),
    ...[adviceFor(failure) ?? []].flat(),
  ]
}

/** A program that removes a directory meets failures in it and at it: those of one burst are one, and are told at the directory. */
const isNews = (inside: LoggedFailure, at: LoggedFailure | undefined): boolean =>
  at === undefined || inside.at - at.at > (removalVerbs.has(at.verb) ? pauseMs : 0)

const metSentences = (path: string, { at, verb, failure }: LoggedFailure): readonly string[] =>
  sentencesOf(`Could not ${tried[verb] ?? verb} ${path} (${localText(at)})`, path, failure)

const ended = (sentence: string): string => (/[.?!]$/.test(sentence) ? sentence : `${sentence}.`)

const withoutPath = (sentence: string, path: string): string =>
  sentence.startsWith(`${path}: `) ? sentence.slice(path.length + 2) : sentence

const staleSentences = (because: string): readonly string[] => [
  `What is shown here is old: ${ended(because)}`,
  'It is asked again by itself; `calcfs status` says how it is.',
]

function lookSentences(path: string, failure: Failure, unmade?: Failure): readonly string[] {
  if (failure.kind === 'absent')
    return [
      `${path}: there is nothing of this name (asked just now), and nothing failed here lately.`,
      ...(unmade === undefined ? [] : [`Nothing can be made here: ${ended(unmade.message)}`]),
      '`calcfs refresh` of the directory looks for what others have made a moment ago, `calcfs status` tells what this instance lacks.',
    ]
  return sentencesOf(`Could not open ${path} just now`, path, failure)
}

const tried: Readonly<Record<string, string>> = {
  create: 'make the file',
  deleting: 'delete',
  flush: 'save',
  getattr: 'open',
  lookup: 'open',
  mkdir: 'make the directory',
  opendir: 'list',
  readdir: 'list',
  release: 'save',
  removing: 'delete',
  rename: 'rename or move',
  rmdir: 'delete the directory',
  setattr: 'change',
  symlink: 'make the link',
  truncate: 'write',
  unlink: 'delete',
  utimens: 'touch',
}
