// Two mounts and the web pages edit one report: no edit that was accepted is lost, and none is undone unseen.
import fc from 'fast-check'
import t from 'tap'
import { equalJson } from '../../../src/record/json/equal.js'
import { fieldOf, type JsonObject } from '../../../src/record/json/json.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { namesOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { history } from '../left-behind.js'
import { type Editor, editorOn, type Name, names, onTheWeb, storedAs, wordIn } from './editors.js'

t.setTimeout(570_000)

t.test('two mounts and a client of the service edit one report', { timeout: 280_000 }, async t => {
  const one = await warmMount(t)
  const { service } = one
  const brief = { settings: { ttlListing: '300ms' } }
  // Of a process of its own, as the locks between mounts are.
  const sameState = await realMount(t, brief, { service, home: one.home })
  const otherState = await warmMount(t, brief, { service })
  const grounds = [one, sameState, otherState]
  let last = 100

  function freshReport(): string {
    last++
    const fields = '{"note":"n","weight":0.10,"serial":12345678901234567890}'
    return service.seed.addReport({ id: `${last}`, name: 'R', title: 't', owner: 'demo', fields })
  }

  for (const [what, other] of [
    ['on one state directory', sameState],
    ['on two', otherState],
  ] as const) {
    t.test(`two mounts ${what}`, async t => {
      const meet = async (): Promise<[Editor, Editor, string]> => {
        const id = freshReport()
        return [await editorOn(one, id), await editorOn(other, id), id]
      }

      t.test('equal edits agree, and the second sends nothing', async t => {
        const [mine, theirs, id] = await meet()
        for (const editor of [mine, theirs]) editor.edit('title', 'the same')
        const sent = await service.during(async () => {
          t.same([await mine.save(), await theirs.save()], ['done', 'done'])
        })
        t.same(writes(sent), ['PUT /report'])
        t.equal(wordIn(await storedAs(service, id), 'title'), 'the same')
      })

      t.test(
        'opposite edits are ESTALE with both texts side by side, which a mount of one state directory shows, too',
        async t => {
          const [mine, theirs, id] = await meet()
          mine.edit('title', 'mine')
          theirs.edit('title', 'theirs')
          t.equal(await mine.save(), 'done')
          const sent = await service.during(async () => t.equal(await theirs.save(), 'ESTALE'))
          t.same(writes(sent), [])
          const listed = await namesOf(other, '.calcfs/drafts')
          t.same(listed, [`${id}.json`, `${id}.json.why`, `${id}.theirs.json`])
          t.equal(wordIn(await theirs.readTheirs(), 'title'), 'mine')
          t.same(await namesOf(one, '.calcfs/drafts'), other === sameState ? listed : [])
          t.equal(wordIn(await storedAs(service, id), 'title'), 'mine')
          t.equal(await theirs.save(), 'done', 'a program that has read the other text may insist')
          t.equal(wordIn(await storedAs(service, id), 'title'), 'theirs')
          t.ok(
            (await history(one.home)).some(text => text.includes('"title": "mine"')),
            'and mine is in the history',
          )
        },
      )
    })
  }

  t.test('any interleaving: what was accepted is in the record or in the history', async t => {
    const runs = Number(process.env['CALCFS_RUNS'] ?? 18)
    const counts = { accepted: 0, conflicts: 0, sequences: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 6, maxLength: 16 }), async steps => {
        const id = freshReport()
        const accepted = await play({ grounds, id, counts }, steps)
        counts.sequences++
        const kept = [JSON.stringify(await storedAs(service, id))]
        for (const { home } of [one, otherState]) kept.push(...(await history(home)))
        const all = kept.join('\n')
        const lost = accepted.filter(value => !all.includes(`"${value}"`))
        if (lost.length > 0) throw new Error(`lost: ${lost}`)
      }),
      { numRuns: runs },
    )
    t.ok(counts.accepted > 2 * runs, `${counts.accepted} saves were accepted`)
    t.ok(counts.conflicts > runs / 6, `${counts.conflicts} were conflicts`)
    t.comment(
      `${counts.sequences} interleavings of two mounts and a client, ${counts.accepted} accepted saves, 0 lost`,
    )
  })
})

type Step =
  | { readonly does: 'load' | 'save' | 'insist' | 'give up'; readonly who: number }
  | { readonly does: 'edit'; readonly who: number; readonly name: Name }
  | { readonly does: 'web'; readonly name: Name }

const who = fc.nat(2)
const name = fc.constantFrom(...names)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('save' as const), who }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('edit' as const), who, name }) },
  fc.record({ does: fc.constantFrom('load' as const, 'insist' as const, 'give up' as const), who }),
  fc.record({ does: fc.constant('web' as const), name }),
)

interface Game {
  readonly grounds: readonly KernelTestbed[]
  readonly id: string
  readonly counts: { accepted: number; conflicts: number }
}

let fresh = 0

/** Answers every value that a save was accepted for. */
async function play(game: Game, steps: readonly Step[]): Promise<string[]> {
  const { grounds, id } = game
  const service = grounds[0]?.service
  if (service === undefined) throw new Error('a service is due')
  const accepted: string[] = []
  const editors: Editor[] = []
  for (const testbed of grounds) editors.push(await editorOn(testbed, id))
  for (const step of steps) {
    if (step.does === 'web') {
      await onTheWeb(service, id, { name: step.name, value: `web ${fresh++}` })
      continue
    }
    const editor = editors[step.who]
    if (editor === undefined) throw new Error('an editor is due')
    if (step.does === 'edit') editor.edit(step.name, `editor ${step.who} ${fresh++}`)
    if (step.does === 'load' && !editor.inConflict) await editor.load()
    if (step.does === 'give up' && editor.inConflict) await editor.giveUp()
    const seen = step.does === 'insist' && editor.inConflict ? await editor.readTheirs() : undefined
    if (step.does === 'save' || seen !== undefined)
      accepted.push(...(await saved(editor, seen, { ...game, stored: () => storedAs(service, id) })))
  }
  return accepted
}

/** Saves, and holds the outcome against what the record was just before: the edits, all of them, and nothing else. */
async function saved(
  editor: Editor,
  seen: JsonObject | undefined,
  { counts, stored }: Game & { stored: () => Promise<JsonObject> },
): Promise<string[]> {
  const before = await stored()
  // A program that has read the other text means all of its own; one that has not means what it has changed.
  const base = seen ?? editor.synced
  const edited = names.filter(name => wordIn(editor.buffer, name) !== wordIn(base, name))
  const end = await editor.save()
  const after = await stored()
  if (end === 'ESTALE') {
    counts.conflicts++
    for (const name of names) expectSame(name, after, before)
    return []
  }
  if (end !== 'done') throw new Error(`the save ended with ${end}`)
  counts.accepted++
  for (const name of names) expectSame(name, after, edited.includes(name) ? editor.buffer : before)
  for (const name of ['weight', 'serial', 'id']) {
    const [one, other] = [fieldOf(before, name), fieldOf(after, name)]
    if (one === undefined || other === undefined || !equalJson(one, other))
      throw new Error(`${name} has changed`)
  }
  return edited.map(name => wordIn(editor.buffer, name) ?? '')
}

function expectSame(name: Name, actual: JsonObject, expected: JsonObject): void {
  if (wordIn(actual, name) === wordIn(expected, name)) return
  throw new Error(`${name} is ${wordIn(actual, name)} and should be ${wordIn(expected, name)}`)
}
