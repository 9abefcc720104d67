// Pin fetch: the contents of one pin are brought to this disk in the background, as many side by side as there is room for.
import { setImmediate } from 'node:timers/promises'
import type { ContentCache } from '../../cache/content/content.js'
import { asFailure, Failure, type FailureKind, isA } from '../../failure.js'
import { dueIn } from '../../remote/clock.js'
import type { TreeProblem } from '../interface/reader.js'
import { Gathering, type PinSurveyParts, type PlacedContent } from './subtree.js'

interface PinFetchParts extends Pick<PinSurveyParts, 'limit' | 'clock' | 'patience'> {
  readonly content: Pick<ContentCache, 'size' | 'knownSize' | 'keepWhole' | 'isOnDisk' | 'cached' | 'nameOf'>
}

export interface SizedContent extends PlacedContent {
  readonly bytes: number
  readonly name: string
}

/** Milliseconds after which a file on its way is looked at: it goes on as long as bytes come. */
const fileDeadline = 60_000
/** Files that are looked for on the disk before others have their turn. */
const lookedAtOnce = 256

export class PinFetch {
  constructor(private readonly parts: PinFetchParts) {}

  /** @throws Failure of an outage */
  async sizes(contents: readonly PlacedContent[]) {
    const { content, limit, clock, patience } = this.parts
    const found: SizedContent[] = []
    const missing = await forEach(contents, async one => {
      const asked = (): Promise<number> => content.size(one.content, dueIn(patience, clock, 'guess'))
      const bytes = content.knownSize(one.content) ?? (await limit(asked))
      found.push({ ...one, bytes, name: content.nameOf(one.content) })
    })
    return { missing, contents: found.sort((one, other) => (one.path < other.path ? -1 : 1)) }
  }

  async present(contents: readonly SizedContent[]): Promise<ReadonlySet<SizedContent>> {
    const here = new Set<SizedContent>()
    for (const [at, one] of contents.entries()) {
      if (at % lookedAtOnce === lookedAtOnce - 1) await setImmediate()
      // An empty file has no bytes to keep.
      if (one.bytes === 0 || this.parts.content.isOnDisk(one.content)) here.add(one)
    }
    return here
  }

  /** Brings the rest here; `kept` is told of each. Answers what cannot be had. @throws Failure of an outage, of a full disk, or what `mayGoOn` throws */
  fetch(
    wanted: readonly SizedContent[],
    kept: (one: SizedContent) => void,
    mayGoOn: () => void,
  ): Promise<readonly TreeProblem[]> {
    const { content, limit } = this.parts
    return forEach(wanted, async one => {
      await limit(() => this.#keepWhole(one, mayGoOn))
      // The disk may have refused it, and a reader gets it all the same.
      if (one.bytes > 0 && !content.isOnDisk(one.content))
        throw new Failure('no-space', 'the cache directory took no more of it')
      kept(one)
    })
  }

  /** A long file may take longer than any deadline, as long as its bytes come. */
  async #keepWhole({ content: wanted }: SizedContent, mayGoOn: () => void): Promise<void> {
    const { content, clock } = this.parts
    for (let before = -1; ; ) {
      mayGoOn()
      try {
        await content.keepWhole(wanted, dueIn(fileDeadline, clock, 'guess'))
        return
      } catch (thrown) {
        const share = content.cached(wanted)
        if (asFailure(thrown).kind !== 'timeout' || share <= before) throw thrown
        before = share
      }
    }
  }
}

/** Does the work for each; ended when all are. Answers what cannot be had. @throws the first failure that is not of one file alone */
async function forEach<Item extends PlacedContent>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<readonly TreeProblem[]> {
  const gathering = new Gathering(isOfAll)
  const parts = items.map(item => gathering.part(item.path, () => work(item)))
  const ended = await Promise.allSettled(parts)
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return gathering.missing
}

/** Faults of one file alone: another version, contradicting lengths, what the service cannot make. */
const ofOneFile: readonly FailureKind[] = ['broken', 'replaced']
const ofAll: readonly FailureKind[] = ['no-space', 'disk-read-only', 'internal', 'unauthenticated']

const isOfAll = (failure: Failure): boolean =>
  !ofOneFile.includes(failure.kind) && (isA('outage', failure) || ofAll.includes(failure.kind))
