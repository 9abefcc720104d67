// Two editors with open texts and a web page, in any order: no edit is undone unseen.
import fc from 'fast-check'
import t from 'tap'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { Failure } from '../../../src/failure.js'
import { fieldOf, type JsonObject, stringJson, textOf, withField } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { handClock, openRoom, type Room, scratch } from '../edit-testbed.js'
import { type FakeService, fakeService, reportId } from '../fake-service.js'

const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
type Step =
  | { readonly does: 'load' | 'save' | 'look'; readonly who: 0 | 1 }
  | { readonly does: 'edit' | 'undo'; readonly who: 0 | 1; readonly name: Name }
  | { readonly does: 'web'; readonly name: Name }

const who = fc.constantFrom(0 as const, 1 as const)
const name = fc.constantFrom(...names)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('save' as const), who }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('edit' as const), who, name }) },
  fc.record({ does: fc.constantFrom('load' as const, 'look' as const), who }),
  fc.record({ does: fc.constant('undo' as const), who, name }),
  fc.record({ does: fc.constant('web' as const), name }),
)

/** A program with its own copy of the text; `synced` is what it last loaded or saved, `older` what came before. */
interface Editor {
  readonly room: Room
  buffer: JsonObject
  synced: JsonObject
  older: JsonObject
}

const value = (record: JsonObject, name: Name) => textOf(fieldOf(record, name))

async function play(
  service: FakeService,
  editors: readonly Editor[],
  steps: readonly Step[],
): Promise<number> {
  const record = editableReport(service.ports, reportId)
  let fresh = 0
  let saves = 0
  const read = async (editor: Editor) => {
    await editor.room.texts.remember(record.key, prettyPrint(service.record), 'read')
    return service.record
  }
  const save = async (editor: Editor) => {
    const before = service.record
    try {
      await editor.room.write(record, prettyPrint(editor.buffer))
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'conflict') return
      throw thrown
    }
    for (const name of names) {
      const mine = value(editor.buffer, name)
      const isEdited = mine !== value(editor.synced, name)
      const wanted = isEdited ? mine : value(before, name)
      if (value(service.record, name) !== wanted) {
        throw new Error(`${name} is ${value(service.record, name)} and should be ${wanted}`)
      }
    }
    editor.older = editor.synced
    editor.synced = editor.buffer
    saves++
  }
  for (const step of steps) {
    if (step.does === 'web') {
      service.record = withField(service.record, step.name, stringJson(`web ${fresh++}`))
      continue
    }
    const editor = editors[step.who]
    if (editor === undefined) throw new Error('two editors are due')
    const set = (text: string | undefined, name: Name) => {
      editor.buffer = withField(editor.buffer, name, stringJson(text ?? ''))
    }
    if (step.does === 'edit') set(`editor ${step.who} ${fresh++}`, step.name)
    if (step.does === 'undo') set(value(editor.older, step.name), step.name)
    if (step.does === 'look') await read(editor)
    if (step.does === 'load') editor.buffer = editor.synced = editor.older = await read(editor)
    if (step.does === 'save') await save(editor)
  }
  return saves
}

// The root has a limit of its own, below that of the tests.
t.setTimeout(560_000)

t.test(
  'an accepted save makes its own edits and no others, whatever came between',
  { timeout: 280_000 },
  async t => {
    let saves = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 24 }), async steps => {
        const directory = await scratch(t)
        const service = fakeService('{"id":42,"a":"0","b":"0","c":"0"}')
        const { now } = handClock()
        const editors: Editor[] = []
        for (const mount of ['/one', '/two']) {
          const room = await openRoom(directory, mount, now)
          await room.texts.remember({ kind: 'report', id: '42' }, prettyPrint(service.record), 'read')
          const start = parseObject(prettyPrint(service.record))
          editors.push({ room, buffer: start, synced: start, older: start })
        }
        saves += await play(service, editors, steps)
        for (const editor of editors) await editor.room.end()
      }),
      { numRuns: Number(process.env['CALCFS_TEST_RUNS'] ?? 60) },
    )
    t.ok(saves > 60, `${saves} saves`)
  },
)
