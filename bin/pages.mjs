// Writes what is made of the commands and settings: the manual pages for the package, and with --write docs/settings.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [{ wholeProgram }, { manualPages }, { topicText }] = await Promise.all([
  import('../dist/src/cli/main.js'),
  import('../dist/src/cli/manual/pages.js'),
  import('../dist/src/cli/help/topics.js'),
])

/** The same pages from the same sources, where the packager says of what day they are. */
const epoch = process.env.SOURCE_DATE_EPOCH
const date = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000)

const manual = join(root, 'dist/man')
mkdirSync(manual, { recursive: true })
for (const [name, text] of Object.entries(manualPages(await wholeProgram(), date)))
  writeFileSync(join(manual, name), text)
if (process.argv.includes('--write')) writeFileSync(join(root, 'docs/settings.md'), topicText('settings'))
