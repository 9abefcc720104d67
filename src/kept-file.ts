// A kept file of the content cache, as one process of this machine names it to another that copies it.

/** Every byte of a content of more than one chunk has been checked. A shorter one is checked by who copies it, and reads it anyway. */
export interface KeptFile {
  /** Absolute, on this machine. Its last name is the one that the checksums are made for. */
  readonly path: string
  /** Of the content, in bytes: the file begins with it. */
  readonly length: number
  /** Of the whole file, its checksums included. */
  readonly fileBytes: number
  /** Its last bytes, in hexadecimal: a hash over name, length and checksums, so that no other content has them. */
  readonly proof: string
}
