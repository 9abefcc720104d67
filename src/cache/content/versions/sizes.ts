// Length, version and date of each content, as the service stated or as counted; contents never change.
import { type ByteCount, byteCount, type Instant, instant } from '../../../remote/remote.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { VersionFingerprint } from './versions.js'

export interface ContentSizes {
  /** In bytes; undefined if it is not known yet. */
  known(name: string): ByteCount | undefined
  /** The version whose bytes readers had last, perhaps without a validator; undefined where they had none. */
  version(name: string): VersionFingerprint | undefined
  /** The date that the service had told when its length became known: it stays. Undefined where it told none. */
  modified(name: string): Instant | undefined
  /** Without a version the one that is known stays. The date counts with the first length only. */
  remember(
    name: string,
    bytes: number,
    told?: { readonly version?: VersionFingerprint | undefined; readonly modified?: Instant | undefined },
  ): void
  /** All of it: the next question goes to the service. */
  forget(name: string): void
}

const room = 'size'
/** Bytes; the date, in milliseconds; the fingerprints of tag and date where a version is known. */
const form = /^(0|[1-9][0-9]{0,15})(?: @([0-9]{1,15}))?(?: (\S+) (\S+))?$/
const noValidator = '-'

/** `changed` is told of a length that is another one now. */
export function openContentSizes(ledger: Ledger, changed: () => void, now: () => Instant): ContentSizes {
  function versionIn(kept: string | undefined): VersionFingerprint | undefined {
    const [, , , tag, modified] = form.exec(kept ?? '') ?? []
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
    modified: name => modifiedIn(ledger.getShort(room, name)),
    remember(name, bytes, { version, modified } = {}) {
      const before = ledger.getShort(room, name)
      const of = version ?? versionIn(before)
      const date = before === undefined ? modified : modifiedIn(before)
      const dated = date === undefined ? '' : ` @${Math.min(date, now())}`
      const validators = of === undefined ? '' : ` ${of.tag ?? noValidator} ${of.modified ?? noValidator}`
      const row = `${bytes}${dated}${validators}`
      if (before === row) return
      ledger.set(room, name, row)
      if (before !== undefined && lengthIn(before) !== bytes) changed()
    },
    forget: name => ledger.delete(room, name),
  }
}

function lengthIn(kept: string | undefined): number | undefined {
  const bytes = kept === undefined ? undefined : form.exec(kept)?.[1]
  return bytes === undefined ? undefined : Number(bytes)
}

function modifiedIn(kept: string | undefined): Instant | undefined {
  const date = kept === undefined ? undefined : form.exec(kept)?.[2]
  return date === undefined ? undefined : instant(Number(date))
}

const storedValidator = (kept: string): string | undefined => (kept === noValidator ? undefined : kept)
