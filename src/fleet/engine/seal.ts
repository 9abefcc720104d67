// Seal: what lies in a fleet is encrypted and authenticated, bound to its name and dated; the name tells nothing.
import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto'
import type { FleetKey } from './fleet-key.js'

/** The name of a value in the fleet: a keyed hash of service, user and question. */
export type SealedName = string & { readonly brand: 'SealedName' }

export interface Seal {
  nameOf(kind: SealedKind, what: string): SealedName
  /** @param plain in pieces, one after another */
  close(name: string, ...plain: readonly Uint8Array[]): Buffer
  /** Undefined for a value of another version, of another key or name, or that is damaged. */
  open(name: string, sealed: Buffer): Opened | undefined
}

export interface Opened {
  readonly plain: Buffer
  /**
   * Milliseconds since it was sealed, as the clocks of the two daemons say it: how long it lies there the server alone knows,
   * and who may write to it may put an old value back.
   */
  readonly ageMs: number
}

export type SealedKind = 'answer' | 'content' | 'size' | 'nodes' | 'news' | 'capabilities'

/**
 * The first byte of each value: a daemon that knows another version takes it for missing. Then a salt, from which and from
 * the name the key of this one value is made, so that no nonce is used twice, however many values there are; and the date.
 */
const version = 2
const saltBytes = 24
/** Milliseconds since 1970. */
const dateBytes = 6
const tagBytes = 16
const nonce = Buffer.alloc(12)
const headBytes = 1 + saltBytes + dateBytes

/** So many salts are drawn at once: a draw costs as much as a short value's encryption. */
const salts = Buffer.alloc(128 * saltBytes)
let saltsUsed = salts.length

function nextSalt(): Buffer {
  if (saltsUsed === salts.length) {
    randomFillSync(salts)
    saltsUsed = 0
  }
  const salt = Buffer.from(salts.subarray(saltsUsed, saltsUsed + saltBytes))
  saltsUsed += saltBytes
  return salt
}

/** `scope`: service and user; a value of one user is none of another's, nor of another service's. */
export function openSeal(
  { forNames, forSeals }: FleetKey,
  scope: readonly [service: string, user: string],
  now: () => number,
): Seal {
  const owner = JSON.stringify(scope)

  const keyOf = (salt: Buffer, name: string): Buffer =>
    createHmac('sha256', forSeals).update(salt).update(`${owner}\0${name}`).digest()

  return {
    nameOf: (kind, what) =>
      createHmac('sha256', forNames)
        .update(`${owner}\0${kind}\0`)
        .update(what, 'utf16le')
        .digest('base64url')
        .slice(0, 32) as SealedName,
    close(name, ...plain) {
      const salt = nextSalt()
      const cipher = createCipheriv('aes-256-gcm', keyOf(salt, name), nonce)
      const head = Buffer.alloc(headBytes)
      head[0] = version
      salt.copy(head, 1)
      head.writeUIntBE(Math.max(0, Math.floor(now())), 1 + saltBytes, dateBytes)
      cipher.setAAD(head)
      return Buffer.concat([
        head,
        ...plain.map(piece => cipher.update(piece)),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },
    open(name, sealed) {
      if (sealed[0] !== version || sealed.length < headBytes + tagBytes) return undefined
      const head = sealed.subarray(0, headBytes)
      const tag = sealed.subarray(sealed.length - tagBytes)
      const decipher = createDecipheriv('aes-256-gcm', keyOf(head.subarray(1, 1 + saltBytes), name), nonce)
      decipher.setAAD(head).setAuthTag(tag)
      try {
        const plain = decipher.update(sealed.subarray(headBytes, sealed.length - tagBytes))
        decipher.final()
        return { plain, ageMs: Math.max(0, now() - head.readUIntBE(1 + saltBytes, dateBytes)) }
      } catch {
        return undefined
      }
    },
  }
}
