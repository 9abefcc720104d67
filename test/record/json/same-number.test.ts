// Which numbers count as one: the value, and what a program prints of it that computes in doubles.
import fc from 'fast-check'
import t from 'tap'
import { isBeyondDouble, isSameNumber } from '../../../src/record/json/same-number.js'

const digits = (most: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{0,${most - 1}}$`))
const anyNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(24),
    fc.option(fc.stringMatching(/^[0-9]{1,24}$/), { nil: undefined }),
    fc.option(fc.integer({ min: -320, max: 320 }), { nil: undefined }),
  )
  .map(
    ([sign, whole, fraction, power]) =>
      `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${power === undefined ? '' : `e${power}`}`,
  )

t.test('SAVE-2 what a double prints in 15 to 17 digits is the same number', async () => {
  const isPrinted = (raw: string): boolean => {
    const double = Number(raw)
    if (!Number.isFinite(double)) return isSameNumber(raw, '1.7976931348623157e+308') || raw.startsWith('-')
    const printed = [15, 16, 17].map(many => double.toPrecision(many))
    return [raw, String(double), ...printed].every(one => isSameNumber(raw, one))
  }
  fc.assert(fc.property(anyNumber, isPrinted), { numRuns: 2000 })
})

t.test('SAVE-2 exactly printed doubles are the same number, other spellings of the value too', async t => {
  for (const [base, written] of [
    ['0.1', '0.1000000000000000055511151231257827021181583404541015625'],
    ['0.10', '.1e0'.replace('.', '0.')],
    ['1e2', '100.0'],
    ['12345678901234567893', '12345678901234567168'],
    ['5e-324', (5e-324).toPrecision(17)],
    ['1e400', '1.7976931348623157e+308'],
    ['-0.0', '0'],
  ] as const)
    t.ok(isSameNumber(base, written), `${base} ${written}`)
})

t.test('SAVE-2 a number that no rounding prints is another one', async t => {
  const near = fc.tuple(digits(20), fc.integer({ min: 1, max: 10_000 }))
  const isOther = ([raw, apart]: [string, number]): boolean => {
    const other = (BigInt(raw) + BigInt(apart)).toString()
    const double = Number(raw)
    const printed = [15, 16, 17].map(many => BigInt(Number(double.toPrecision(many))).toString())
    const decimals = [15, 16, 17].map(many => exactly(double.toPrecision(many)))
    if ([...printed, ...decimals].includes(other)) return true
    return !isSameNumber(raw, other)
  }
  fc.assert(fc.property(near, isOther), { numRuns: 3000 })
  t.notOk(isSameNumber('9007199254740993', '9007199254740994'))
  t.notOk(isSameNumber('0.1', '0.2'))
  t.notOk(isSameNumber('1', '-1'))
})

/** The integer that such a print says, digit for digit. */
function exactly(printed: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e\+(\d+))?$/.exec(printed) ?? []
  const zeros = Number(power) - fraction.length
  return zeros >= 0 ? `${whole}${fraction}${'0'.repeat(zeros)}` : whole
}

t.test('a number is beyond a double where no double prints as it', async t => {
  for (const raw of ['9007199254740993', '12345678901234567893', '0.12345678901234567890', '1e400'])
    t.ok(isBeyondDouble(raw), raw)
  for (const raw of ['9007199254740992', '0.10', '100', '0.1', '1.5e300', '123456789012345'])
    t.notOk(isBeyondDouble(raw), raw)
})
