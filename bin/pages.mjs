// Pages made of commands, settings and figures; `--check` fails where a document is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [{ wholeProgram }, { manualPages }, { topicText }] = await Promise.all([
  import('../dist/src/cli/main.js'),
  import('../dist/src/cli/manual/pages.js'),
  import('../dist/src/cli/help/help.js'),
])

/** The same pages from the same sources, where the packager says of what day they are. */
const epoch = process.env.SOURCE_DATE_EPOCH
const date = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000)

if (process.argv.includes('--check')) {
  const isOld = ([name, text]) => readFileSync(join(root, name), 'utf8') !== text
  const old = Object.entries(await documents()).filter(isOld)
  for (const [name] of old) console.error(`${name} is old: npm run pages writes it.`)
  process.exitCode = old.length === 0 ? 0 : 1
} else {
  const manual = join(root, 'dist/man')
  mkdirSync(manual, { recursive: true })
  for (const [name, text] of Object.entries(manualPages(await wholeProgram(), date)))
    writeFileSync(join(manual, name), text)
  if (process.argv.includes('--write'))
    for (const [name, text] of Object.entries(await documents())) writeFileSync(join(root, name), text)
}

async function documents() {
  const [{ troubleshooting }, { speedPlot }] = await Promise.all([
    import('./troubleshooting.mjs'),
    import('../dist/bench/report/plot.js'),
  ])
  return {
    'docs/settings.md': topicText('settings'),
    'docs/troubleshooting.md': troubleshooting,
    'docs/speed.svg': speedPlot(readFileSync(join(root, 'docs/performance.md'), 'utf8')),
  }
}
