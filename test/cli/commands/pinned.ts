// Ground of the promises of pins: what `calcfs pins` tells, waiting for it, and a project that is long enough for a look in between.
import type { PinLine } from '../../../src/drive/interface/control.js'
import type { Seed } from '../../../src/service/seed.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { until } from '../../testbed/within.js'

export const patience = 90_000

export const pinsOf = async (testbed: KernelTestbed): Promise<readonly PinLine[]> =>
  JSON.parse((await testbed.here('pins', '--json')).stdout)

export const isWhole = ({ state }: PinLine): boolean => state === 'whole'

export const downloads = (heard: readonly { method: string; path: string }[]): string[] =>
  heard
    .filter(({ method, path }) => method === 'GET' && /^\/calculation\/(files\/bitstream|xyz)/.test(path))
    .map(({ path }) => path)

export const wholeFifty = {
  code: 0,
  stdout: '/projects/Fifty is kept whole: 50 files, 5.0 MB.\n',
  stderr: '',
}

export const bigText = (letter: string): string => letter.repeat(99_999)

export function addFifty(seed: Seed): void {
  const project = seed.addProject({ id: '4000', name: 'Fifty', owner: 'demo' })
  for (let at = 0; at < 50; at += 1)
    seed.addCalculation({
      id: String(4100 + at),
      name: `run${at}`,
      project,
      files: { 'a.out': `${at} ${bigText('a')}` },
    })
}

/** Resolves once the first pin is as wanted; time passes for the drive meanwhile where that is virtual. */
export async function untilPin(
  testbed: KernelTestbed,
  isSo: (told: PinLine) => boolean,
  passMs = 0,
): Promise<PinLine> {
  let last: PinLine | undefined
  await until(patience, 'the pin', async () => {
    if (passMs > 0) await testbed.pass(passMs)
    last = (await pinsOf(testbed))[0]
    return last !== undefined && isSo(last)
  })
  if (last === undefined) throw new Error('there is no pin')
  return last
}
