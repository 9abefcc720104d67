// A second mount of the same user over one fleet: what it reads and saves is in the fleet that the first one asks.
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFleetKey } from '../../src/fleet/key.js'
import { stringJson, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint } from '../../src/record/json/print.js'
import { testRedis } from '../testbed/fleet/redis.js'
import { inProcess } from '../testbed/in-process.js'
import {
  outcome,
  overwrite,
  type Testbed,
  type TestbedOptions,
  type TestLifetime,
  textOf,
} from '../testbed/testbed.js'
import { within } from '../testbed/within.js'
import { contentIn, same } from './expected/content.js'
import { stored } from './expected/database.js'
import { fileOf, live, placeOf, type Stage, type Thing } from './stage.js'

export interface TwoMounts {
  readonly first: Testbed
  readonly second: Testbed
}

/** Every value gets older by so many milliseconds, as its mounts do. */
const ageScript = `for _, key in ipairs(redis.call('KEYS', 'calcfs:*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[1]) then redis.call('DEL', key)
  elseif left > 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`

export async function twoMounts(t: TestLifetime, wish: TestbedOptions): Promise<TwoMounts> {
  const redis = await testRedis(t)
  const directory = mkdtempSync(join(tmpdir(), 'calcfs-model-fleet-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const fleetKeyFile = join(directory, 'key')
  makeFleetKey(fleetKeyFile)
  const settings = { ...wish.settings, fleet: redis.address, fleetKeyFile }
  const first = await inProcess(t, { ...wish, settings })
  const second = await inProcess(t, { ...wish, settings }, first.service)
  return {
    first: {
      ...first,
      async pass(milliseconds) {
        await redis.client.eval(ageScript, 0, milliseconds)
        await Promise.all([first.pass(milliseconds), second.pass(milliseconds)])
      },
    },
    second,
  }
}

/** Milliseconds for one look at a place of the second mount. */
const lookMs = 10_000

/** The second mount reads what it shows; only the first one is held to the model, which asks the same fleet. */
export async function lookFromSecond(stage: Stage): Promise<void> {
  const { second } = stage.theatre
  if (second === undefined) return
  await outcome(second.files.readdir(placeOf(stage.root)))
  for (const thing of stage.things) {
    if (thing.truth === undefined) continue
    const end = await within(
      lookMs,
      `the second mount reads ${fileOf(thing)}`,
      textOf(second, fileOf(thing)).then(
        text => ({ text }),
        () => undefined,
      ),
    )
    if (end !== undefined && contentIn(thing.kind, end.text) === undefined)
      throw new Error(`the second mount shows no JSON at ${fileOf(thing)}: ${end.text}`)
  }
}

/** A name of the model, as a drive shows it: docs/semantics.md, Names. */
const shownName = (name: string): string => name.replaceAll('/', '%2F')

/** When all lifetimes are over, both show what the service has. */
export async function compareSecond(stage: Stage): Promise<void> {
  const { second, testbed, database } = stage.theatre
  if (second === undefined) return
  await testbed.pass(40_000)
  await second.files.touch(placeOf(stage.root))
  for (const kind of ['calculation', 'report'] as const)
    for (const thing of live(stage, kind)) {
      if (kind === 'calculation' && thing.parent !== stage.root) continue
      const path =
        kind === 'report'
          ? fileOf(thing)
          : `${placeOf(stage.root)}/${shownName(String(thing.truth?.['name']))}/.calculation.json`
      const found = contentIn(kind, await textOf(second, path))
      const truth = stored(database, kind, thing.id)
      if (!same(found, truth))
        throw new Error(
          `the second mount shows ${path} as ${JSON.stringify(found)}, not ${JSON.stringify(truth)}`,
        )
    }
}

/** A save by the second mount, where it shows the record as the service has it; false where it has not come about. */
export async function savedBySecond(
  stage: Stage,
  thing: Thing,
  field: string,
  value: string,
): Promise<boolean> {
  const { second, database } = stage.theatre
  if (second === undefined || !stage.isUp || thing.kind === 'share') return false
  const path = fileOf(thing)
  const text = await textOf(second, path).catch(() => undefined)
  if (text === undefined || !same(contentIn(thing.kind, text), stored(database, thing.kind, thing.id)))
    return false
  const changed = compactPrint(withField(parseObject(text), field, stringJson(value)))
  if ((await outcome(overwrite(second, path, changed))) === 'done') return true
  for (const name of (await second.files.readdir('.calcfs/drafts')).keys())
    await outcome(second.files.unlink(`.calcfs/drafts/${name}`))
  return false
}
