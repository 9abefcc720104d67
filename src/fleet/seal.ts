// Seal: a value of a fleet is encrypted and authenticated, bound to its name and dated; the name tells nothing.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { type Instant, instant } from '../remote/remote.js'
import type { FleetKey } from './key.js'

/** The name of a value in the fleet: a keyed hash of service, user and question. */
export type SealedName = string & { readonly brand: 'SealedName' }

export type SealedKind = 'answer' | 'content' | 'size' | 'news'

export interface Opened {
  readonly plain: Buffer
  /** When it was asked for, by the clock of the daemon that asked; never in the future. */
  readonly made: Instant
}

/** The first byte of each value; then a salt, from which and from the name the key of this one value is made; then the date. */
const version = 3
const saltBytes = 24
/** Milliseconds since 1970. */
const dateBytes = 6
const tagBytes = 16
/** No nonce is used twice: each value has a key of its own. */
const nonce = Buffer.alloc(12)
const headBytes = 1 + saltBytes + dateBytes

export class Seal {
  private readonly owner: string
  private readonly key: FleetKey
  private readonly now: () => Instant

  /** `scope`: service and user; a value of one user is none of another's, nor of another service's. */
  constructor(key: FleetKey, scope: readonly [service: string, user: string], now: () => Instant) {
    this.key = key
    this.owner = JSON.stringify(scope)
    this.now = now
  }

  nameOf(kind: SealedKind, what: string): SealedName {
    const hash = createHmac('sha256', this.key.forNames).update(`${this.owner}\0${kind}\0`)
    return hash.update(what, 'utf16le').digest('base64url').slice(0, 32) as SealedName
  }

  /** @param plain in pieces, one after another */
  close(name: string, made: Instant, ...plain: readonly Uint8Array[]): Buffer {
    const head = Buffer.alloc(headBytes)
    head[0] = version
    randomBytes(saltBytes).copy(head, 1)
    head.writeUIntBE(Math.max(0, Math.floor(made)), 1 + saltBytes, dateBytes)
    const cipher = createCipheriv('aes-256-gcm', this.keyOf(head, name), nonce)
    cipher.setAAD(head)
    const pieces = plain.map(piece => cipher.update(piece))
    return Buffer.concat([head, ...pieces, cipher.final(), cipher.getAuthTag()])
  }

  /** Undefined for a value of another version, of another key or name, or that is damaged. */
  open(name: string, sealed: Buffer): Opened | undefined {
    if (sealed[0] !== version || sealed.length < headBytes + tagBytes) return undefined
    const head = sealed.subarray(0, headBytes)
    const end = sealed.length - tagBytes
    const decipher = createDecipheriv('aes-256-gcm', this.keyOf(head, name), nonce)
    decipher.setAAD(head).setAuthTag(sealed.subarray(end))
    const plain = decipher.update(sealed.subarray(headBytes, end))
    try {
      decipher.final()
    } catch {
      return undefined
    }
    const made = head.readUIntBE(1 + saltBytes, dateBytes)
    return { plain, made: instant(Math.min(made, this.now())) }
  }

  private keyOf(head: Buffer, name: string): Buffer {
    const salt = head.subarray(1, 1 + saltBytes)
    return createHmac('sha256', this.key.forSeals).update(salt).update(`${this.owner}\0${name}`).digest()
  }
}
