// Damage on disk: a daemon that comes up on a harmed home reads right, keeps what was not saved or says that it is lost, and sends nothing.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { chance } from '../chance.js'
import { mistakesOf } from '../daemon.js'
import { type Harm, harms } from '../damage/harm.js'
import { openSmallCache } from '../damage/small-cache.js'
import { makeTemplate, type Template } from '../damage/template.js'
import type { Figure, Frame } from '../engine.js'
import { scoped } from '../scope.js'
import { readWhole, timed } from '../timed.js'

const limit = 30_000
/** A mount where every call hangs is wrong once. */
const wrongInOneCase = 3
/** A mount costs half a second, and what becomes of one content says nothing of another one. */
const contentsToo = Array<'contents'>(4).fill('contents')

async function run(frame: Frame): Promise<void> {
  const cases = frame.isFull ? 25 : 2
  await Promise.all([
    ofAHome(frame),
    frame.onGrounds(scope => openSmallCache(scope, frame), { cases, least: frame.isFull ? 0 : 3 * cases }),
  ])
}

/** A home with all that a daemon keeps, harmed while none runs. */
async function ofAHome(frame: Frame): Promise<void> {
  await scoped(async scope => {
    const template = await makeTemplate(scope)
    const before = template.service.heard.length
    for (let seed = frame.order.seed; !frame.isOver(undefined, 100); seed++)
      await oneCase(template, seed, frame)
    const sent = writes(template.service.heard.slice(before)).filter(line => !line.startsWith('POST /login'))
    for (const line of sent) frame.wrong.push(`${line} was sent by itself`)
  })
}

/** Drawn from a seed of its own, with which the figure begins with this case. */
async function oneCase(template: Template, seed: number, frame: Frame): Promise<void> {
  const pick = chance(seed)
  await scoped(async scope => {
    const home = await fs.mkdtemp(join(tmpdir(), 'h-'))
    scope.teardown(() => fs.rm(home, { recursive: true, force: true }))
    const copied = spawnSync('cp', ['-a', `${template.home}/.`, home])
    if (copied.status !== 0) throw new Error(`cp: ${copied.stderr}`)
    const outside = join(home, 'outside')
    await fs.writeFile(outside, 'nothing may touch this')
    const anything = Array<'anything'>(pick.once(2) ? 1 : pick.whole(1, 4)).fill('anything')
    const done = harms(home, [...anything, ...contentsToo], outside, pick)
    frame.add('damages', done.length)
    const about = `${done.map(({ name, path }) => `${name}: ${path}`).join('; ')} (--seed ${seed})`
    let faults = 0
    const wrong = (what: string): void => {
      faults += 1
      frame.wrong.push(`${what}: ${about}`)
    }

    const mounting = realMount(scope, { xattrs: 'off' }, { service: template.service, home })
    const drive = await mounting.catch((thrown: Error) => thrown)
    if (drive instanceof Error) return wrong(`no mount: ${drive.message.slice(0, 300)}`)
    frame.add('mounts')
    // What hangs once hangs again: the case ends, and so does the daemon.
    const hung = async (path: string): Promise<void> => {
      wrong(`${path} hangs`)
      await drive.kill9()
    }
    for (const [path, due] of template.contents) {
      if (faults >= wrongInOneCase) return
      const seen = await timed(limit, calls => readWhole(calls, join(drive.directory, path)))
      if (seen.hung) return hung(path)
      if (seen.value === undefined) wrong(`${path} ends with ${seen.errno ?? `a call of ${seen.slowest} ms`}`)
      else if (!seen.value.equals(due)) wrong(`${path} has ${seen.value.length} other bytes of ${due.length}`)
      else frame.add('contents right')
    }
    for (const [words, path] of template.drafts)
      await lookForDraft(drive, { words, path, done }, frame, wrong)
    if ((await fs.readFile(outside, 'utf8')) !== 'nothing may touch this') wrong('a file outside was changed')
    for (const mistake of await mistakesOf(drive)) wrong(`logged ${mistake}`)
    if (!drive.alive()) wrong('the daemon died')
  })
}

/** An unsaved text is shown, or was damaged itself: then it still lies somewhere, or its loss is reported. */
async function lookForDraft(
  drive: MountTestbed,
  { words, path, done }: { words: string; path: string; done: readonly Harm[] },
  frame: Frame,
  wrong: (what: string) => void,
): Promise<void> {
  const seen = await timed(limit, calls => readWhole(calls, join(drive.directory, path)))
  if (seen.value?.includes(words) === true) return frame.add('drafts kept')
  const names = await timed(limit, ({ call }) => call(fs.readdir(join(drive.directory, '.calcfs/drafts'))))
  for (const name of names.value ?? []) {
    const draft = await timed(limit, calls => readWhole(calls, join(drive.directory, '.calcfs/drafts', name)))
    if (draft.value?.includes(words) === true) return frame.add('drafts kept')
  }
  if (done.some(isDeletion)) return frame.add('drafts deleted without a trace')
  const isHarmed = done.some(({ path: at, also }) =>
    [at, ...also].some(one => /\/state\/|^state/.test(`/${one}`)),
  )
  if (!isHarmed) return wrong(`the text ${words} is not shown any more, and nothing of the state was harmed`)
  const told = /draft|journal|state|moved aside|not saved|unreadable|damaged/i.test(
    warningsIn(await drive.log()),
  )
  const list = await drive.calcfs('drafts', 'list')
  const status = await drive.calcfs('status')
  const says = `${list.stdout}${list.stderr}${status.stdout}${status.stderr}`
  const lies =
    spawnSync('grep', ['-rlaF', '--devices=skip', words, join(drive.home, 'state')]).stdout.toString() !== ''
  if (told || /damaged|unreadable|moved aside|lost|cannot be read/i.test(says))
    frame.add('drafts lost and told')
  else if (lies) wrong(`the text ${words} lies on the disk, is not shown, and nothing says so`)
  else wrong(`the text ${words} is lost, and nothing says so`)
}

/** A whole draft, or all of them, taken away: on the disk nothing is left that could tell. */
const isDeletion = ({ name, path }: Harm): boolean =>
  (/^(gone|emptied)$/.test(name) && /^state(\/calcfs(\/[^/]+(\/drafts(\/[^/]+)?)?)?)?$/.test(path)) ||
  (name === 'another name' && /^state(\/calcfs(\/[^/]+(\/drafts)?)?)?$/.test(path))

/** Lines of a log at `warn` and above. */
const warningsIn = (log: string): string =>
  log
    .split('\n')
    .filter(line => /"level":(4|5|6)0|"level":"(warn|error|fatal)"/.test(line))
    .join('\n')

export const damage: Figure = {
  name: 'damage',
  goal: '2,000 damages of cache, ledger and state (flipped bits, cuts, swaps, lost sectors, FIFOs, devices, links, directories, modes), 700 kills -9 and 300 power cuts while contents are written and evicted: 0 wrong bytes, every mount comes up, no text that was not saved is lost silently, nothing is sent by itself',
  least: { damages: 2_000, kills: 700, 'power cuts': 300 },
  run,
}
