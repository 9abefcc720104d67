// Seal: a value of a fleet is encrypted and authenticated with the key file, bound to its name and dated; the name tells nothing.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BadSetting } from '../config/settings.js'
import { type Instant, instant } from '../remote/remote.js'
import { codeOf, systemWords } from '../system/error-code.js'

/** Secret keys, each for one purpose. */
export interface FleetKey {
  readonly forNames: Buffer
  readonly forSeals: Buffer
}

const keyBytes = 32
const keyForm = /^calcfs-fleet-key-1 ([A-Za-z0-9_-]{43})$/

/** Makes such a file, 0600, and the directory above it. @throws BadSetting where there is one, or it cannot be written */
export function makeFleetKey(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const text = `calcfs-fleet-key-1 ${randomBytes(keyBytes).toString('base64url')}\n`
    writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST')
      throw new BadSetting(
        `${file}: there is a file already; name another one, or remove it if no node uses it.`,
      )
    throw new BadSetting(`${file}: the key was not made: ${systemWords(cause) ?? String(cause)}.`, { cause })
  }
}

/** @throws BadSetting for a file that is missing, that others can read, or that holds no key */
export function readFleetKey(file: string): FleetKey {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined)
    throw new BadSetting(
      `--fleet-key-file ${file}: there is no such file; make one with \`calcfs fleet key ${file}\`, and copy it to every node.`,
    )
  if ((found.mode & 0o077) !== 0)
    throw new BadSetting(`--fleet-key-file ${file}: others can read this key; run: chmod 600 ${file}`)
  const [, text] = keyForm.exec(readFileSync(file, 'utf8').trim()) ?? []
  const secret = Buffer.from(text ?? '', 'base64url')
  if (secret.length !== keyBytes)
    throw new BadSetting(
      `--fleet-key-file ${file}: this is no key; make one with \`calcfs fleet key\` under another name.`,
    )
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', purpose, keyBytes))
  return { forNames: derived('calcfs fleet names'), forSeals: derived('calcfs fleet seals') }
}

/** The name of a value in the fleet: a keyed hash of service, user and question. */
export type SealedName = string & { readonly brand: 'SealedName' }

type SealedKind = 'answer' | 'content' | 'size' | 'news'

export interface Opened {
  readonly plain: Buffer
  /** When it was asked for, by the clock of the daemon that asked; never in the future. */
  readonly made: Instant
}

/** A sealed value is this version, a salt, its date, the encrypted bytes and their tag; its own key is made of salt and name. */
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

  /** `scope`: service and user; a value of one user is none of another's, nor of another service's. */
  constructor(
    private readonly key: FleetKey,
    scope: readonly [service: string, user: string],
    private readonly now: () => Instant,
  ) {
    this.owner = JSON.stringify(scope)
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
