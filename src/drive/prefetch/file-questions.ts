// File questions: what is usually done to files is asked ahead for those of the folders that a walk is expected in.
import { parentOf } from '../../layout.js'
import type { Dentry } from '../nodes/node.js'
import { type AccessLevel, type AccessPattern, fileClassOf, isMore } from './access-pattern.js'
import type { ListedDirectory } from './listed-directory.js'

export interface FileQuestion {
  readonly path: string
  readonly dentry: Dentry
  readonly level: AccessLevel
  /** In the folder that the walk is in. */
  readonly isHere: boolean
}

export interface FileQuestions {
  /** The files of this folder may be asked for; `isBeyond`: the walk has not come to the directory that it lies in. */
  add(folder: ListedDirectory, isBeyond: boolean): void
  /** The walk is in this folder now: what was asked there counts as used, and what is left in the one before is dropped. */
  enter(path: string): void
  /** It has come to the directories of some folders that were beyond. */
  cameTo(isBeyond: (folder: string) => boolean): void
  /** The walk has passed this folder by. */
  drop(path: string): void
  /** The next one, those of the folder that the walk is in first; undefined also where `may` forbids it. */
  next(may: (question: FileQuestion) => boolean): FileQuestion | undefined
  /** How many a folder brings, on average of late. */
  readonly perFolder: number
  /** Those that were asked ahead and are used, or asked in the folder that the walk was in. */
  readonly used: number
  /** The same so far, for another walk. */
  fork(pattern: AccessPattern): FileQuestions
}

interface Asked {
  readonly folder: ListedDirectory
  /** What was asked for each entry. */
  readonly levels: (AccessLevel | undefined)[]
  /** Entries before this one have nothing left to ask. */
  from: number
  count: number
  /** The same, where a size counts less than contents. */
  weight: number
}

/** How far two paths are the same. */
function commonLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return one.lastIndexOf('/', at)
}

/** Beyond the directories that it is in, a walk is expected to go on for one question in so many that it has used. */
const partBeyond = 16
const beyondAtLeast = 8
const weightOfSize = 1 / 4

/** What the questions of a walk hand on to those of its fork. */
interface Past {
  readonly asked: Map<string, Asked>
  readonly here: Asked | undefined
  readonly used: number
  readonly perFolder: number
  /** Those that the walk is not in the directory of. */
  readonly beyond: Set<Asked>
}

export const openFileQuestions = (pattern: AccessPattern): FileQuestions =>
  questionsFrom(pattern, { asked: new Map(), here: undefined, used: 0, perFolder: 0, beyond: new Set() })

function questionsFrom(pattern: AccessPattern, past: Past): FileQuestions {
  const { asked, beyond } = past
  /** Those with something left, for what is known of the walk, in the order in which they are expected. */
  const open = new Map(asked)
  let version = pattern.version
  let { here, used, perFolder } = past

  /** More is done to files than was known: folders that were through are not. */
  function reconsider(): void {
    if (version === pattern.version) return
    version = pattern.version
    for (const [path, one] of asked) {
      one.from = 0
      open.set(path, one)
    }
  }

  function nextOf(one: Asked): FileQuestion | undefined {
    const { folder, levels } = one
    for (; one.from < folder.entries.length; one.from += 1) {
      const dentry = folder.entries[one.from]
      const kind = dentry && fileClassOf(dentry)
      const level = kind === undefined ? undefined : pattern.usual(kind, folder.path)
      if (dentry === undefined || level === undefined || !isMore(level, levels[one.from])) continue
      return { path: `${folder.path}/${dentry.name}`, dentry, level, isHere: one === here }
    }
    open.delete(folder.path)
    return undefined
  }

  function take(one: Asked, question: FileQuestion): FileQuestion {
    one.levels[one.from] = question.level
    one.from += 1
    if (one === here) used += 1
    else {
      one.count += 1
      one.weight += question.level === 'looked' ? weightOfSize : 1
    }
    return question
  }

  /** The nearest of the folders beyond that have something left. */
  function nearest(): Asked | undefined {
    let found: Asked | undefined
    let most = -1
    for (const one of beyond) {
      if (!open.has(one.folder.path)) continue
      const common = commonLength(one.folder.path, here?.folder.path ?? '')
      if (common > most) {
        found = one
        most = common
      }
    }
    return found
  }

  function nearQuestion(): FileQuestion | undefined {
    const own = here !== undefined && open.has(here.folder.path) ? nextOf(here) : undefined
    if (own !== undefined) return own
    for (const one of open.values()) {
      const question = beyond.has(one) ? undefined : nextOf(one)
      if (question !== undefined) return question
    }
    return undefined
  }

  function farQuestion(): FileQuestion | undefined {
    if (!mayGoBeyond()) return undefined
    for (let one = nearest(); one !== undefined; one = nearest()) {
      const question = nextOf(one)
      if (question !== undefined) return question
    }
    return undefined
  }

  function mayGoBeyond(): boolean {
    let weight = 0
    for (const one of beyond) weight += one.weight
    return weight < Math.max(beyondAtLeast, used / partBeyond)
  }

  function drop(path: string): void {
    const one = asked.get(path)
    if (one === undefined) return
    asked.delete(path)
    open.delete(path)
    beyond.delete(one)
  }

  const usualIn = ({ entries, path }: ListedDirectory): number =>
    entries.reduce((count, dentry) => {
      const kind = fileClassOf(dentry)
      return kind === undefined || pattern.usual(kind, path) === undefined ? count : count + 1
    }, 0)

  return {
    drop,
    add(folder, isBeyond) {
      if (asked.has(folder.path)) return
      const one = { folder, levels: [], from: 0, count: 0, weight: 0 }
      asked.set(folder.path, one)
      open.set(folder.path, one)
      if (isBeyond) beyond.add(one)
    },
    enter(path) {
      const next = asked.get(path)
      if (here !== undefined && here !== next) {
        perFolder = (perFolder + usualIn(here.folder)) / 2
        drop(here.folder.path)
      }
      here = next
      if (next === undefined) return
      beyond.delete(next)
      used += next.count
      next.count = 0
    },
    cameTo(isBeyond) {
      for (const one of beyond) if (!isBeyond(one.folder.path)) beyond.delete(one)
    },
    next(may) {
      reconsider()
      const question = nearQuestion() ?? farQuestion()
      const one = question && asked.get(parentOf(question.path))
      return question !== undefined && one !== undefined && may(question) ? take(one, question) : undefined
    },
    get perFolder() {
      return perFolder
    },
    get used() {
      return used
    },
    fork(forked) {
      const copies = new Map<Asked, Asked>()
      for (const one of asked.values()) copies.set(one, { ...one, levels: [...one.levels] })
      return questionsFrom(forked, {
        asked: new Map([...copies.values()].map(one => [one.folder.path, one])),
        here: here && copies.get(here),
        used,
        perFolder,
        beyond: new Set([...beyond].flatMap(one => copies.get(one) ?? [])),
      })
    },
  }
}
