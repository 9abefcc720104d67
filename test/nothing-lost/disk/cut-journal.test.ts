// A journal that is cut at any byte never stops a mount: what can be read is there, and nothing else is lost.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type DraftMeta, printMeta } from '../../../src/edit/journal/draft-meta.js'
import { textHash } from '../../../src/edit/journal/text-history.js'
import { inProcess } from '../../testbed/in-process.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`
const states = ['editing', 'refused', 'sending', 'in-flight', 'outcome-unknown', 'paused'] as const

/** Whole of what a note can hold, of a daemon that is dead. */
function noteOf(state: (typeof states)[number], id: string): string {
  const hash = textHash(state)
  const attempt = { saved: hash, form: hash, before: hash, whole: hash, edited: ['title'] }
  const why = {
    kind: 'broken',
    sentence: 'it was cut',
    said: 'no',
    line: 1,
    column: 2,
  }
  const whole: DraftMeta = {
    key: { kind: 'report', id },
    owner: { pid: 2 ** 22 + 1, started: 'long ago' },
    state,
    base: hash,
    saved: hash,
    form: hash,
    attempt,
    created: 1_700_000_000_000,
    changed: 1_700_000_000_001,
    why,
  }
  return printMeta(whole)
}

async function leave(drafts: string, name: string, parts: { note: string; text: string }): Promise<void> {
  const directory = join(drafts, name)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'meta.json'), parts.note)
  await writeFile(join(directory, 'text'), parts.text)
}

/** The texts that a drive shows among its drafts. */
async function draftTexts(testbed: Parameters<typeof textOf>[0]): Promise<string[]> {
  const names = (await namesOf(testbed, '.calcfs/drafts')).filter(name => name.endsWith('.json'))
  const texts: string[] = []
  for (const name of names) texts.push(await textOf(testbed, `.calcfs/drafts/${name}`))
  return texts.sort()
}

t.setTimeout(240_000)

/** So many drafts are left for one mount: each is a file that it holds open. */
const atOnce = 100

t.test('drafts cut at every byte', async t => {
  const testbed = await inProcess(t)
  const drafts = join(testbed.state, 'drafts')
  let cuts = 0

  t.test('notes', async t => {
    const length = noteOf('outcome-unknown', ids.report).length
    // The states take turns, and each of them has a whole note as well.
    const cutAt = [...Array(length).keys(), ...states.map(() => Number.POSITIVE_INFINITY)]
    for (let from = 0; from < cutAt.length; from += atOnce) {
      const texts: string[] = []
      await testbed.remount(async () => {
        await rm(drafts, { recursive: true, force: true })
        for (const [at, end] of cutAt.slice(from, from + atOnce).entries()) {
          const state = states[at % states.length] ?? 'editing'
          const text = `{"id":42,"title":"${state} cut at ${end}"}\n`
          texts.push(text)
          await leave(drafts, `note-${at}`, { note: noteOf(state, `${5000 + at}`).slice(0, end), text })
          cuts++
        }
      })
      t.same(await draftTexts(testbed), texts.sort(), `every text is there, cut at ${from} bytes and more`)
    }
    await giveAllUp(t, testbed)
  })

  t.test('texts', async t => {
    const text = `{"id":42,"title":"Ä title of the text","calculations":[1,2]}\n`
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++) {
      await leave(drafts, `text-${at}`, { note: noteOf('refused', `${5000 + at}`), text: '' })
      await writeFile(join(drafts, `text-${at}`, 'text'), bytes.subarray(0, at))
    }
    const half = text.slice(0, text.length / 2)
    await leave(drafts, 'half', { note: noteOf('refused', ids.report), text: half })
    cuts += bytes.length + 1
    await testbed.remount()
    for (let at = 1; at <= bytes.length; at++) {
      const shown = await testbed.files.readFile(`.calcfs/drafts/${5000 + at}.json`)
      t.ok(shown.equals(bytes.subarray(0, at)), `what is left of ${at} bytes is shown`)
    }
    t.equal(await textOf(testbed, report), half, 'in the place of its record, too')
    await giveAllUp(t, testbed)
  })

  t.test('afterwards the drive is as ever', async t => {
    const text = (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, '"title": "As ever",\n')
    t.equal(await outcome(overwrite(testbed, report, text)), 'done')
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    t.comment(`${cuts} cuts of a journal, none of which stopped a mount or cost another text`)
  })
})

async function giveAllUp(t: Test, testbed: Parameters<typeof textOf>[0]): Promise<void> {
  for (const name of await namesOf(testbed, '.calcfs/drafts'))
    if (name.endsWith('.json')) await testbed.files.unlink(`.calcfs/drafts/${name}`)
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
}
