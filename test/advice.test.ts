// One wording of advice: what `why`, the notes of drafts, lists and the help say of a failure is the sentence of src/advice.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { adviceForText, adviceOn, loginCommand } from '../src/advice.js'
import { exitCodes } from '../src/terminal/exit.js'
import { realMount } from './testbed/mount.js'
import { outcome, overwrite, textOf } from './testbed/testbed.js'
import { drawnFrom } from './testbed/variants.js'
import { warmMount } from './testbed/warm-mount.js'

const { seed, draw } = drawnFrom()

t.test(`CLI-26 CLI-1 why, the note, drafts list and status advise the same (seed ${seed})`, async t => {
  const testbed = await warmMount(t)
  // Commands name their drive where there are several.
  await realMount(t)
  const path = 'reports/42.json'
  const text = await textOf(testbed, path)
  const answers = [400, 403, 413, 500, 507]
  for (let drawn = 0; drawn < 2; drawn++) {
    const [answer = 403] = answers.splice(draw(answers.length), 1)
    const end = testbed.service.refuse(/^PUT \/report/, answer)
    t.not(await outcome(overwrite(testbed, path, text.replace('Supporting', `Edit ${drawn}`))), 'done')
    const at = ['--mount', testbed.directory]
    const listed = JSON.parse((await testbed.calcfs('drafts', 'list', '--json', ...at)).stdout)
    const typed: string = listed[0].whatToDo
    t.match(typed, `\`calcfs drafts drop 42.json --mount ${testbed.directory}\``, `${answer}`)
    const advice = typed.replaceAll(` --mount ${testbed.directory}`, '')
    for (const [told, ...line] of [
      [typed, 'drafts', 'list', testbed.directory],
      [advice, 'drafts', 'show', '42.json.why', ...at],
      [typed, 'status', testbed.directory],
      [typed, 'status', testbed.directory, '--json'],
      [typed, 'why', `${testbed.directory}/${path}`, '--json'],
      [typed, 'why', `${testbed.directory}/${path}`],
      [typed, 'why', `${testbed.directory}/.calcfs/drafts/42.json`],
    ] as const) {
      const { stdout } = await testbed.calcfs(...line)
      t.ok(stdout.includes(told), `${answer}: ${line.join(' ')}: ${stdout}`)
    }
    t.equal((await testbed.calcfs('drafts', 'drop', '42.json', ...at)).code, exitCodes.done)
    end()
  }
})

t.test('the help gives the advice in the same words, and no other file words it', async t => {
  const top = fileURLToPath(new URL('../../', import.meta.url))
  const help = (name: string): string =>
    readFileSync(join(top, 'docs/help', name), 'utf8').replaceAll(/\s+/g, ' ')
  t.match(help('conflicts.md'), adviceForText('conflict', '42.json'))
  t.match(help('edits.md'), adviceForText('not-permitted', '42.json'))
  const ours =
    /drafts send NAME|then try again|Make room on|Correct the text|Ask the owner to|Open any web page/
  const files = readdirSync(join(top, 'src'), { recursive: true }).map(String)
  t.same(
    files.filter(name => name.endsWith('.ts') && ours.test(readFileSync(join(top, 'src', name), 'utf8'))),
    ['advice.ts'],
  )
})

t.test('where several drives are mounted each command of an advice names its own', async t => {
  const [send, drop] = ["`calcfs drafts send 'a $&'", "`calcfs drafts drop 'a $&'"]
  const advice = (at: string) => `To send the text as it is: ${send}${at}\`; to give it up: ${drop}${at}\`.`
  t.equal(adviceOn({ mount: '/m/my lab' }, adviceForText('', 'a $&')), advice(" --mount '/m/my lab'"))
  t.equal(adviceOn({ mount: '/m' }, '`calcfs status` says how it is'), '`calcfs status` says how it is')
})

t.test('a refused sign-in is told with the command for that user, as a shell reads it', async t => {
  const url = 'https://chem.example/create/rest'
  t.equal(loginCommand(url, 'guest'), `calcfs login ${url} --user guest`)
  t.equal(loginCommand(url, "o'neil b"), `calcfs login ${url} --user 'o'\\''neil b'`)
  t.equal(loginCommand(url, undefined), `calcfs login ${url}`, 'of one who is not known nothing is said')
})
