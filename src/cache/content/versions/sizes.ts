// Length and version of each content, as the service stated or as counted; contents never change.
import { type ByteCount, byteCount } from '../../../remote/remote.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { VersionFingerprint } from './versions.js'

export interface ContentSizes {
  /** In bytes; undefined if it is not known yet. */
  known(name: string): ByteCount | undefined
  /** The version whose bytes readers had last, perhaps without a validator; undefined where they had none. */
  version(name: string): VersionFingerprint | undefined
  /** Without a version the one that is known stays. */
  remember(name: string, bytes: number, version?: VersionFingerprint): void
  /** All of it: the next question goes to the service. */
  forget(name: string): void
  /** Keeps in words that the sources contradict each other. */
  dispute(name: string, sentence: string): void
  /** They agree now. */
  settle(name: string): void
  disputed(name: string): string | undefined
}

const room = 'size'
const disputes = 'size-dispute'
/** Bytes, then the fingerprints of tag and date where a version is known. */
const form = /^(0|[1-9][0-9]{0,15})(?: (\S+) (\S+))?$/
const noValidator = '-'

/** `changed` is told of a length that is another one now. */
export function openContentSizes(ledger: Ledger, changed: () => void): ContentSizes {
  const disputed = new Map([...ledger.entries(disputes)].map(([name, { value }]) => [name, value]))

  function settle(name: string): void {
    if (disputed.delete(name)) ledger.delete(disputes, name)
  }

  function versionIn(kept: string | undefined): VersionFingerprint | undefined {
    const [, , tag, modified] = form.exec(kept ?? '') ?? []
    return tag === undefined || modified === undefined
      ? undefined
      : { tag: storedValidator(tag), modified: storedValidator(modified) }
  }

  return {
    known(name) {
      const bytes = lengthIn(ledger.getShort(room, name))
      return bytes === undefined ? undefined : byteCount(bytes)
    },
    version: name => versionIn(ledger.getShort(room, name)),
    remember(name, bytes, version) {
      const before = ledger.getShort(room, name)
      const of = version ?? versionIn(before)
      const validators = of === undefined ? '' : ` ${of.tag ?? noValidator} ${of.modified ?? noValidator}`
      if (before === `${bytes}${validators}`) return
      ledger.set(room, name, `${bytes}${validators}`)
      if (before !== undefined && lengthIn(before) !== bytes) changed()
    },
    forget(name) {
      ledger.delete(room, name)
      settle(name)
    },
    dispute(name, sentence) {
      disputed.set(name, sentence)
      ledger.set(disputes, name, sentence)
    },
    settle,
    disputed: name => disputed.get(name),
  }
}

function lengthIn(kept: string | undefined): number | undefined {
  const bytes = kept === undefined ? undefined : form.exec(kept)?.[1]
  return bytes === undefined ? undefined : Number(bytes)
}

const storedValidator = (kept: string): string | undefined => (kept === noValidator ? undefined : kept)
