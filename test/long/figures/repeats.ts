// The files of `npm test` that draw cases, or take turns at some of them: each once more, with as many cases as a night has time for.
import { fileURLToPath } from 'node:url'
import { plainNode, run as ran } from '../../testbed/programs.js'
import type { Figure, Frame } from '../engine.js'

/** What each file takes for more, in order of worth. Those of model, fsx, kills and races are figures of their own. */
const files: readonly (readonly [file: string, more: Readonly<Record<string, string>>])[] = [
  ['mount/changed-elsewhere', { CALCFS_STORM_SECONDS: '60' }],
  ['programs/saves', { CALCFS_TEST_FULL: '1' }],
  ['kernel/memory', { CALCFS_TEST_FULL: 'yes' }],
  ['kernel/negotiation', { CALCFS_TEST_FULL: 'yes' }],
  ['mount/load/memory', { CALCFS_TEST_FULL: 'yes', CALCFS_STREAM_MIB: '1024' }],
  ['nothing-lost/kill/kill-creation', { CALCFS_TEST_FULL: '1' }],
  ['nothing-lost/opaque', { CALCFS_TEST_RUNS: '1000' }],
  ['cli/odd-places', { CALCFS_TEST_RUNS: '200' }],
  ['drive/instances', { CALCFS_TEST_RUNS: '1000' }],
  ['availability/silence', { CALCFS_TEST_FULL: '1' }],
  ['availability/outages', { CALCFS_TEST_FULL: '1' }],
  ['mount/semantics/reading', { CALCFS_TEST_FULL: '1' }],
  ['mount/semantics/conditions', { CALCFS_TEST_FULL: '1' }],
  ['mount/semantics/namespace', { CALCFS_TEST_FULL: '1' }],
  ['mount/semantics/doubts', { CALCFS_TEST_FULL: '1' }],
]
/** Milliseconds for one of them. */
const limit = 1_200_000

async function once(file: string, environment: Readonly<Record<string, string>>): Promise<string[]> {
  const path = fileURLToPath(new URL(`../../${file}.test.js`, import.meta.url))
  const [program, ...first] = plainNode
  const { code, stdout, stderr } = await ran(program, [...first, path], {
    environment: { ...environment, TAP_TIMEOUT: `${limit / 1_000}` },
    // Later than tap, which says what did not end.
    limit: limit + 20_000,
  })
  if (code === 0) return []
  const failed = stdout.split('\n').filter(line => /^\s*not ok /.test(line))
  return [`${file} ended with ${code}: ${[...failed, stderr.trim().slice(-1_000)].join('; ')}`]
}

async function run(frame: Frame): Promise<void> {
  for (const [file, more] of files) {
    if (frame.isOver(undefined, files.length)) {
      frame.short(`${file} not begun`)
      continue
    }
    const environment = { CALCFS_TEST_SEED: `${frame.order.seed}`, ...more }
    const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    frame.say(`${file}, with ${given.join(' ')}`)
    for (const one of await once(file, environment)) frame.wrong.push(`${one}; ${given.join(' ')}`)
    frame.add('files')
  }
}

/** No part of the cut: `npm test` runs these files by themselves. */
export const repeats: Figure = {
  name: 'repeats',
  goal: 'the tests of every day that draw cases, or some of many: once with five to twenty times as many of them, or all: 0 fail',
  least: { files: files.length },
  run,
}
