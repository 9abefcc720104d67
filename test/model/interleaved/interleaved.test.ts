// Saves, reads, refreshes, an outage and remounts in every order a scheduler can think of: a save that ended well is stored.
import fc, { type Scheduler } from 'fast-check'
import t from 'tap'
import { type DriveFiles, outcome } from '../../testbed/testbed.js'
import { type FieldName, fields, type Interleaved, openInterleaved, quiet, valueIn } from './interleaved.js'

const runs = Number(process.env['CALCFS_INTERLEAVINGS'] ?? 60)
const seed = Number(process.env['CALCFS_INTERLEAVINGS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const report = 'reports/42.json'
/** Which program changes which field: the first the title, the second the description. */
const owners = ['A', 'B'] as const

type Save = { readonly does: 'save'; readonly how: 'overwrite' | 'in place' | 'move' }
type Life =
  | Save
  | { readonly does: 'read' | 'stat' | 'refresh' | 'leave' | 'back' | 'remount' }
  /** Another client's change; `as` is the value that a program here will write at that save. */
  | { readonly does: 'web'; readonly field: FieldName; readonly as: number | undefined }
  | { readonly does: 'pass'; readonly milliseconds: number }

const save: fc.Arbitrary<Save> = fc.record({
  does: fc.constant('save' as const),
  how: fc.constantFrom('overwrite' as const, 'in place' as const, 'move' as const),
})
const writer = fc.array(save, { minLength: 1, maxLength: 3 })
const reader = fc.array(
  fc.oneof(
    fc.record({ does: fc.constantFrom('read' as const, 'stat' as const, 'refresh' as const) }),
    fc.record({ does: fc.constant('pass' as const), milliseconds: fc.constantFrom(1_500, 9_000, 15_000) }),
  ),
  { maxLength: 4 },
)
const weather = fc.array(
  fc.oneof(
    fc.record({ does: fc.constantFrom('leave' as const, 'back' as const) }),
    fc.record({
      does: fc.constant('web' as const),
      field: fc.constantFrom(...fields),
      as: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
  ),
  { maxLength: 4 },
)
const mount = fc.array(fc.record({ does: fc.constant('remount' as const) }), { maxLength: 2 })

/** What one program did, for the message of a failure. */
type Note = (what: string) => void

interface Actor {
  readonly world: Interleaved
  readonly name: string
  readonly field: FieldName
  readonly note: Note
  /** Every text that a program has written or is writing. */
  readonly written: string[]
  /** Every text that this program has read before it saved. */
  readonly read: Set<string>
  /** The place in the history of the last save of this program that ended well. */
  stored: number
  /** The saves that are under way now, of all programs. */
  readonly running: Set<{ overlaps: boolean }>
  saves: number
}

async function perform(actor: Actor, step: Life): Promise<void> {
  const { world, note } = actor
  switch (step.does) {
    case 'save':
      return world.during(files => saved(actor, step, files))
    case 'read':
      return looked(actor)
    case 'stat':
      return note(`stat ${await outcome(world.during(files => files.lstat(report)))}`)
    case 'refresh':
      return note(`touch ${await outcome(world.during(files => files.touch('reports/42')))}`)
    case 'pass':
      return world.pass(step.milliseconds)
    case 'leave':
    case 'back':
      world.isUp = step.does === 'back'
      return note(step.does)
    case 'web':
      return changedByWeb(actor, step)
    case 'remount':
      note('remount begins')
      await world.remount()
      return note('remount ends')
  }
}

/** The program reads, says one field otherwise, and writes; what close(2) answers is held against the service's history. */
async function saved(actor: Actor, { how }: Save, files: DriveFiles): Promise<void> {
  const { world, field, note } = actor
  let text: string
  try {
    text = (await files.readFile(report)).toString()
  } catch (thrown) {
    return note(`${actor.name} cannot read: ${thrown}`)
  }
  // Another program is just writing the file: a user would read it again.
  if (!isWhole(text)) return note(`${actor.name} finds half a text`)
  actor.saves += 1
  const value = `${actor.name} ${actor.saves}`
  const mine = text.replace(new RegExp(`"${field}": "[^"]*"`), `"${field}": "${value}"`)
  // Another client was there first with the very same value.
  if (mine === text) return note(`${actor.name} finds ${value} already`)
  actor.read.add(text)
  // What it began with, once more: its edit is taken back, and nothing of this field is to be saved.
  if ([...actor.read].some(old => old.includes(`"${field}": "${value}"`)))
    return note(`${actor.name} goes back to ${value}`)
  actor.written.push(mine)
  const before = world.history.length
  note(`${actor.name} ${how} ${value} begins, having read ${text.replace(/\s+/g, ' ')}`)
  let isTaken = false
  const taken = () => {
    isTaken = true
  }
  const own = { overlaps: actor.running.size > 0 }
  for (const other of actor.running) other.overlaps = true
  actor.running.add(own)
  const end = await outcome(written(files, mine, { how, own: actor.name, taken }))
  actor.running.delete(own)
  note(`${actor.name} ${how} ${value} ends with ${end}`)
  const place = world.history.findIndex(
    ({ record }, at) => at >= before - 1 && valueIn(record, field) === value,
  )
  // Of two programs that write into one open file at the same time either may write over the other's bytes.
  const isOneFile = own.overlaps && how !== 'move'
  if (end !== 'done') {
    if (isTaken && !isOneFile && !world.isKept(value) && place < 0)
      throw new Error(`${value} ended with ${end} and is not kept`)
    return
  }
  if (place < 0 && isOneFile) return
  if (place < 0) throw new Error(`${value} ended well, and the service never had it`)
  actor.stored = place
}

function changedByWeb({ world, note }: Actor, { field, as }: Extract<Life, { does: 'web' }>): void {
  const owner = owners[fields.indexOf(field)]
  const value = as === undefined || owner === undefined ? `web ${world.history.length}` : `${owner} ${as}`
  world.web(field, value)
  note(`web ${field} ${value}`)
}

/** `taken` is called once every byte was taken: from then on the text must not be lost. */
async function written(
  files: DriveFiles,
  text: string,
  { how, own, taken }: { how: Save['how']; own: string; taken: () => void },
): Promise<void> {
  const isMove = how === 'move'
  const path = isMove ? `reports/sedAbCde${own}` : report
  const file = await files.open(path, how === 'in place' ? 'r+' : 'w')
  if (how === 'in place') {
    await file.read(1 << 20, 0)
    await file.truncate(0)
  }
  await file.write(text, 0)
  taken()
  await file.close()
  // A program whose rename fails keeps its own file.
  if (isMove) await files.rename(path, report)
}

/** Two programs that write into one file at a time may leave what is no text of a record. */
function isWhole(text: string): boolean {
  try {
    const record = JSON.parse(text)
    return fields.every(field => typeof record[field] === 'string')
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false
    throw thrown
  }
}

/** What is read after a save that ended well is never from before it. */
async function looked({ world, note, written }: Actor, actors: readonly Actor[] = []): Promise<void> {
  const stored = actors.map(({ field, stored }) => ({ field, stored }))
  let text: string
  try {
    text = (await world.during(files => files.readFile(report))).toString()
  } catch (thrown) {
    return note(`read: ${thrown}`)
  }
  if (!isWhole(text)) return note('read half a text')
  const shown = JSON.parse(text)
  // An unsaved text is shown in the record's place.
  const isDraft = written.includes(text)
  note(`read ${shown.title}, ${shown.description}`)
  for (const { field, stored: from } of stored) {
    const value = String(shown[field])
    const old = world.history.slice(0, from).some(({ record }) => valueIn(record, field) === value)
    const since = world.history.slice(from).some(({ record }) => valueIn(record, field) === value)
    if (old && !since && !isDraft) throw new Error(`${field} is ${value} after a later one was saved here`)
  }
}

/** A PUT carries what the service has, or what a program wrote: never a text from elsewhere. */
function checkHistory({ history }: Interleaved, written: readonly string[]): void {
  for (const [at, { record, by }] of history.entries()) {
    if (by === 'web') continue
    for (const field of fields) {
      const value = valueIn(record, field)
      const wasThere = history
        .slice(Math.max(0, at - 6), at)
        .some(one => valueIn(one.record, field) === value)
      if (!wasThere && !written.some(text => text.includes(`"${field}": "${value}"`)))
        throw new Error(`a PUT brought ${field} ${value} from nowhere`)
    }
    const before = history[at - 1]
    const own = fields.filter(field => before && valueIn(before.record, field) !== valueIn(record, field))
    if (own.length === 0 && before?.by === 'drive')
      throw new Error('a PUT changed nothing: it was sent twice')
  }
}

interface Day {
  readonly writers: readonly (readonly Save[])[]
  readonly reads: readonly Life[]
  readonly weather: readonly Life[]
  readonly mounts: readonly Life[]
}

async function played(scheduler: Scheduler, day: Day): Promise<void> {
  const world = await openInterleaved(scheduler)
  const said: string[] = []
  const note: Note = what => void said.push(what)
  const texts: string[] = []
  const running = new Set<{ overlaps: boolean }>()
  const actorOf = (name: string, field: FieldName): Actor => ({
    world,
    name,
    field,
    note,
    written: texts,
    read: new Set(),
    running,
    stored: 0,
    saves: 0,
  })
  const writers = day.writers.map((_, at) => actorOf(owners[at] ?? '?', fields[at] ?? 'title'))
  const others = actorOf('other', 'name')
  const turn = async (steps: readonly Life[], actor: Actor) => {
    for (const step of steps) {
      await scheduler.schedule(Promise.resolve(), `${actor.name}: ${step.does}`)
      if (step.does === 'read') await looked(actor, writers)
      else await perform(actor, step)
    }
  }
  try {
    const lives = [
      ...day.writers.map((steps, at) => turn(steps, writers[at] ?? others)),
      turn(day.reads, others),
      turn(day.weather, others),
      turn(day.mounts, others),
    ]
    const all = Promise.allSettled(lives)
    await scheduler.waitFor(all)
    for (const end of await all) if (end.status === 'rejected') throw end.reason
    checkHistory(world, texts)
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : cause}\n${said.join('\n')}`, { cause })
  } finally {
    const ending = world.end()
    await scheduler.waitFor(ending)
  }
}

t.setTimeout(570_000)

t.test(
  `SAVE-16 a save that ends well is stored, one that fails is kept, in any order (CALCFS_INTERLEAVINGS_SEED=${seed})`,
  { timeout: 3_600_000 },
  async t => {
    let done = 0
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler({ act: run => quiet().then(run) }),
        fc.record({
          writers: fc.array(writer, { minLength: 1, maxLength: 2 }),
          reads: reader,
          weather,
          mounts: mount,
        }),
        async (scheduler, day) => {
          await played(scheduler, day)
          done += 1
        },
      ),
      { numRuns: runs, seed, endOnFailure: process.env['CALCFS_INTERLEAVINGS_SHRINK'] === undefined },
    )
    t.ok(done >= runs, `${done} interleavings`)
  },
)
