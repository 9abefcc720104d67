// Values as a user writes them (`30s`, `10G`, `yes`, `~/x`), parsed; each form refuses what it does not know.
import { resolve } from 'node:path'
import * as z from 'zod'
import { homeSign } from '../system/user-name.js'

const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const bytes: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

/** `500ms`, `30s`, `5m`, `12h`, `7d`, `0`, a bare number of seconds → milliseconds. */
export const duration = measured(
  /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/,
  unit => milliseconds[unit ?? 's'],
  z.number('is no duration; write for example 30s, 5m, 12h or 7d'),
)

/** `500M`, `10G`, `1.5TiB`, a bare number of bytes → bytes; K is 1024. */
export const size = measured(
  /^(\d+(?:\.\d+)?)\s*([KMGT])?(?:i?B)?$/i,
  unit => bytes[(unit ?? '').toUpperCase()],
  z.int('is no size; write for example 500M or 10G'),
)

/** The same, and at least so many; `least` as it is written. */
export const sizeFrom = (bytesAtLeast: number, least: string) =>
  size.refine(written => written >= bytesAtLeast, `is too small; the least is ${least}`)

export const count = measured(
  /^(\d+)$/,
  () => 1,
  z.int('is no whole number').min(1, 'is too small; the least is 1'),
)

/** `true`, `yes`, `on`, `1` and their opposites. */
export const choice = z
  .union([z.boolean(), z.string(), z.number()])
  .transform(String)
  .pipe(
    z.stringbool({
      truthy: ['true', 'yes', 'on', '1'],
      falsy: ['false', 'no', 'off', '0'],
      error: 'is neither yes nor no',
    }),
  )

export const text = z.string('is no text; put it in quotes').min(1, 'is empty')

/** A path, with a leading `~/` for the home directory → an absolute path. */
export const place = text.transform(written =>
  resolve(written.replace(/^~(?=\/|$)/, sign => homeSign() ?? sign)),
)

/** An address of this machine alone and a port, such as `127.0.0.1:9464` or `[::1]:9464`; port 0 is any free one. */
export const loopbackPort = text.transform((written, context) => {
  const found = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})$/.exec(written)
  const port = Number(found?.[2])
  if (found?.[1] !== undefined && port <= 65_535) return { host: found[1].replace(/[[\]]/g, ''), port }
  context.addIssue({
    code: 'custom',
    message:
      'is no loopback address with a port; write for example 127.0.0.1:9464, and let a proxy of yours show it to other machines',
  })
  return z.NEVER
})

/** One of the words; the message lists them all. */
export function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

export const texts = z
  .union([text.transform(only => [only]), z.array(text)], 'is no list of texts in quotes')
  .transform(list => Object.freeze(list))

/** NaN stands for an unparsable text, so that the schema after it reports its own sentence. */
function measured(
  form: RegExp,
  factorOf: (unit: string | undefined) => number | undefined,
  number: z.ZodType<number, number>,
) {
  const measure = (written: string | number): number => {
    const parts = form.exec(String(written).trim())
    const factor = parts === null ? undefined : factorOf(parts[2])
    return factor === undefined ? Number.NaN : Math.round(Number(parts?.[1]) * factor)
  }
  return z.union([z.string(), z.number()]).transform(measure).pipe(number)
}
