// Same number: whether a program that computes in doubles may have printed a number as another one.
import { LRUCache } from 'lru-cache'

/** A save compares its text with every known one of the record, and these have the same numbers. */
const decimals = new LRUCache<string, string>({ maxSize: 1 << 16, sizeCalculation: (_, raw) => raw.length })

const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** A number as its significant digits and a power of ten; 1.0, 1 and 10e-1 are one value, -0 is 0. */
export function decimalOf(raw: string): string {
  const known = decimals.get(raw)
  if (known !== undefined) return known
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts.exec(raw) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  const decimal = significant === '' ? '0' : `${sign}${significant}e${power}`
  decimals.set(raw, decimal)
  return decimal
}

/** True for one value, and for what the base's double prints in 15 to 17 digits or exactly. */
export function isSameNumber(base: string, written: string): boolean {
  const said = decimalOf(written)
  return said === decimalOf(base) || (!isImmune(base) && roundingsOf(base).has(said))
}

/** True if no double prints as this number: a program that gives it back does not compute in doubles. */
export const isBeyondDouble = (raw: string): boolean =>
  !isImmune(raw) && !roundingsOf(raw).has(decimalOf(raw))

/** The doubles that a program may read from a rounding of this number. */
export const doublesOf = (raw: string): ReadonlySet<number> =>
  new Set([Number(raw), ...(isImmune(raw) ? [] : printed(doubleOf(raw)).map(Number))])

/** Perl keeps integers of 64 bits, Python all integers, and what keeps other numbers keeps these, too. */
export function hardnessOf(raw: string): 1 | 2 | 3 {
  if (!/^-?[0-9]+$/.test(raw)) return 3
  return raw.length < 22 && isOf64Bits(BigInt(raw)) ? 1 : 2
}

const isOf64Bits = (integer: bigint): boolean => integer >= -(2n ** 63n) && integer < 2n ** 64n

/** A short integer prints as itself. */
const isImmune = (raw: string): boolean => /^-?[0-9]{1,15}$/.test(raw)

const roundingsOf = (raw: string): ReadonlySet<string> => {
  const double = doubleOf(raw)
  return new Set([...printed(double).map(decimalOf), exactDecimal(double)])
}

/** `jq` takes the largest double for a number that is too large for any. */
function doubleOf(raw: string): number {
  const double = Number(raw)
  if (Number.isFinite(double)) return double
  return double > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE
}

const printed = (double: number): readonly string[] => [
  ...[15, 16, 17].map(digits => double.toPrecision(digits)),
  String(double),
]

/** All digits of a double: up to a thousand. */
function exactDecimal(double: number): string {
  let power = 0
  let whole = double
  // A product with two is exact here: the fraction has at most 1,074 binary places.
  for (; !Number.isInteger(whole); power += 1) whole *= 2
  return decimalOf(`${BigInt(whole) * 5n ** BigInt(power)}e-${power}`)
}
