// File questions: what is usually done to files is asked ahead for those of the folders that a walk is expected in.
import { parentOf } from '../../layout.js'
import type { Dentry } from '../nodes/node.js'
import { type AccessLevel, type AccessPattern, fileClassOf, isMore } from './access-pattern.js'
import type { ContentPrefetch } from './content-prefetch.js'
import type { ListedDirectory } from './listed-directory.js'

export interface FileQuestion {
  readonly path: string
  readonly dentry: Dentry
  readonly level: AccessLevel
  /** In the folder that a program has entered last. */
  readonly isHere: boolean
}

interface Asked {
  readonly path: string
  /** Undefined while its listing is on its way. */
  folder: ListedDirectory | undefined
  readonly levels: (AccessLevel | undefined)[]
  /** Entries before this one have nothing left to ask. */
  from: number
  count: number
  /** The same, where a size counts less than contents. */
  weight: number
  /** No program has come to the directory that it lies in. */
  isBeyond: boolean
}

/** Beyond the directories that programs are in, one question is asked for so many that were used. */
const partBeyond = 24
const beyondAtLeast = 8
const weightOfSize = 1 / 4

export class FileQuestions {
  private readonly asked = new Map<string, Asked>()
  private weightBeyond = 0
  private here: Asked | undefined
  /** Those that were asked ahead and are used, or asked in the folder that a program was in. */
  private used = 0
  perFolder = 0

  constructor(
    private readonly pattern: AccessPattern,
    private readonly contents: Pick<ContentPrefetch, 'isKnown'>,
  ) {}

  /**
   * The files of the folder at this path may be asked for, in the order of these calls, once its listing has come. `isBeyond`:
   * no program has come to the directory that it lies in.
   */
  expect(path: string, isBeyond: boolean): void {
    if (this.asked.has(path)) return
    const none = { folder: undefined, levels: [], from: 0, count: 0, weight: 0 }
    this.asked.set(path, { path, ...none, isBeyond })
  }

  arrive(folder: ListedDirectory): void {
    const one = this.asked.get(folder.path)
    if (one !== undefined) one.folder ??= folder
  }

  /** A program is in this folder now: what was asked there counts as used, and what is left in the one before is dropped. */
  enter(path: string): void {
    const next = this.asked.get(path)
    if (this.here !== undefined && this.here !== next) {
      this.perFolder = (this.perFolder + this.usualIn(this.here.folder)) / 2
      this.drop(this.here.path)
    }
    this.here = next
    if (next === undefined) return
    this.come(next)
    this.used += next.count
    next.count = 0
  }

  cameTo(directory: string): void {
    for (const one of this.asked.values()) if (parentOf(one.path) === directory) this.come(one)
  }

  /** No program is expected in this folder any more. */
  drop(path: string): void {
    const one = this.asked.get(path)
    if (one === undefined) return
    this.asked.delete(path)
    this.come(one)
    if (one === this.here) this.here = undefined
  }

  /** The next one, those of the folder that was entered last first; undefined also where `may` forbids it. */
  next(may: (question: FileQuestion) => boolean): FileQuestion | undefined {
    const mayBeyond = this.weightBeyond < Math.max(beyondAtLeast, this.used / partBeyond)
    for (const one of this.inTurn()) {
      if (one.isBeyond && one !== this.here && !mayBeyond) continue
      const question = this.nextOf(one)
      if (question !== undefined) return may(question) ? this.take(one, question) : undefined
    }
    return undefined
  }

  /** More is done to files than was known: folders that were through are not. */
  reconsider(): void {
    for (const one of this.asked.values()) one.from = 0
  }

  private come(one: Asked): void {
    if (one.isBeyond) this.weightBeyond -= one.weight
    one.isBeyond = false
  }

  private *inTurn(): Generator<Asked> {
    if (this.here !== undefined) yield this.here
    yield* this.asked.values()
  }

  private nextOf(one: Asked): FileQuestion | undefined {
    const { folder, levels } = one
    for (; folder !== undefined && one.from < folder.entries.length; one.from += 1) {
      const dentry = folder.entries[one.from]
      const kind = dentry && fileClassOf(dentry)
      const level = kind === undefined ? undefined : this.pattern.usual(kind, folder.path)
      if (dentry === undefined || level === undefined || !isMore(level, levels[one.from])) continue
      if (this.contents.isKnown(dentry.node, level)) continue
      return { path: `${folder.path}/${dentry.name}`, dentry, level, isHere: one === this.here }
    }
    return undefined
  }

  private take(one: Asked, question: FileQuestion): FileQuestion {
    one.levels[one.from] = question.level
    one.from += 1
    if (one === this.here) this.used += 1
    else {
      one.count += 1
      const weight = question.level === 'looked' ? weightOfSize : 1
      one.weight += weight
      if (one.isBeyond) this.weightBeyond += weight
    }
    return question
  }

  private usualIn(folder: ListedDirectory | undefined): number {
    const isUsual = (dentry: Dentry): boolean => {
      const kind = fileClassOf(dentry)
      return kind !== undefined && this.pattern.usual(kind, folder?.path) !== undefined
    }
    return folder?.entries.filter(isUsual).length ?? 0
  }
}
