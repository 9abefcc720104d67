// File questions: what is usually done to files is asked ahead for those of the folders that a walk is expected in.
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
}

interface Asked {
  readonly folder: ListedDirectory
  /** What was asked for each entry. */
  readonly levels: (AccessLevel | undefined)[]
  /** Entries before this one have nothing left to ask. */
  from: number
  count: number
}

/** Beyond the directories that it is in, a walk is expected to go on for one question in so many that it has used. */
const partBeyond = 16
const beyondAtLeast = 8

export function openFileQuestions(pattern: AccessPattern): FileQuestions {
  const asked = new Map<string, Asked>()
  /** Those with something left, for what is known of the walk, in the order in which they are expected. */
  const open = new Map<string, Asked>()
  /** Those that the walk is not in the directory of. */
  const beyond = new Set<Asked>()
  let version = pattern.version
  let here: Asked | undefined
  let used = 0
  let perFolder = 0

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
    else one.count += 1
    return question
  }

  function mayGoBeyond(): boolean {
    let count = 0
    for (const one of beyond) count += one.count
    return count < Math.max(beyondAtLeast, used / partBeyond)
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
      const one = { folder, levels: [], from: 0, count: 0 }
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
      let goesBeyond: boolean | undefined
      function questionIn(one: Asked): FileQuestion | undefined {
        if (beyond.has(one)) goesBeyond ??= mayGoBeyond()
        return beyond.has(one) && goesBeyond !== true ? undefined : nextOf(one)
      }
      if (here !== undefined && open.has(here.folder.path)) {
        const question = questionIn(here)
        if (question !== undefined) return may(question) ? take(here, question) : undefined
      }
      for (const one of open.values()) {
        const question = questionIn(one)
        if (question !== undefined) return may(question) ? take(one, question) : undefined
      }
      return undefined
    },
    get perFolder() {
      return perFolder
    },
  }
}
