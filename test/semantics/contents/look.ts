// A content is what the service sends, whatever it looks like and whatever it is called: only a page needs a proof.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const folder = 'projects/Water splitting/Looks'
const id = '5001'
const names = [
  'nbo.out',
  'topol.top',
  'orbitals.molden',
  'cell.json',
  'run.log',
  'summary.html',
  'a.XHTML',
  'x',
]
const beginnings = [
  '[ moleculetype ]\n; name nrexcl\n',
  '[Molden Format]\n[Atoms] AU\n',
  '{ sites: 4 }\n',
  '{"error":"the session has ended"}\n',
  '[1, 2',
  '<html><title>NBO</title>\n',
  '<!DOCTYPE html>\n',
  'null',
  '\n\n  plain\n',
]
const labels = [
  'application/json',
  'application/problem+json',
  'text/json; charset=utf-8',
  'text/html',
  'text/html; charset=latin1',
  'application/xhtml+xml',
  'text/plain',
  'application/octet-stream',
]
const isPage = (label: string): boolean => label.includes('html')
const isPageName = (name: string): boolean => /html$/i.test(name)
const dealsAtMost = 24

const adding = (titles: readonly string[]) => (seed: Seed) => {
  const files = Object.fromEntries(titles.map(title => [title, '']))
  seed.addCalculation({ id, name: 'Looks', project: ids.water, files })
}

export function look(t: Test, open: OpenTestbed): void {
  const { seed, draw } = drawnFrom()
  const one = <Choice>(all: readonly Choice[]): Choice => all[draw(all.length)] as Choice
  const files = Array.from({ length: dealsAtMost }, (_, number) => ({
    title: `${number}${one(names)}`,
    bytes: `${one(beginnings)}${'line\n'.repeat(draw(3) * draw(20_000))}`,
    label: one(labels),
    isChunked: draw(2) === 0,
  }))

  t.test(
    `READ-6 a file is what the service sends, whatever it looks like and is called (seed ${seed})`,
    async t => {
      const titles = files.map(({ title }) => title)
      const testbed = await open(t, { adds: adding(titles) })
      const sent: string[] = []
      testbed.service.intercept(
        /^(GET|HEAD) \/calculation\/files\/bitstream\?id=5001&/,
        (response, { heard, headers }) => {
          const title = new URLSearchParams(heard.path.split('?')[1]).get('fileId')
          const file = files.find(one => one.title === title)
          if (file === undefined) throw new Error(`${heard.path} is none of them`)
          // A Range of one byte asks for the size.
          if (heard.method === 'GET' && headers?.range !== 'bytes=0-0') sent.push(file.title)
          const length = file.isChunked ? {} : { 'content-length': file.bytes.length }
          response.writeHead(200, { 'content-type': file.label, ...length })
          response.end(heard.method === 'HEAD' ? undefined : file.bytes)
        },
      )
      for (const { title, bytes, label } of files) {
        const path = `${folder}/${title}`
        t.equal((await testbed.files.lstat(path)).size, bytes.length, `the size of ${title} as ${label}`)
        t.ok((await textOf(testbed, path)) === bytes, `${title} as ${label}, ${bytes.slice(0, 20)}`)
        await textOf(testbed, path)
        if (!isPage(label) || isPageName(title)) continue
        t.equal(sent.filter(one => one === title).length, 2, `${title} comes twice`)
      }
    },
  )

  t.test(
    'READ-6 a page that is another one each time is EIO, its size too, and later the file is whole',
    async t => {
      const testbed = await open(t, { adds: adding(['nbo.out']) })
      let answers = 0
      const mend = testbed.service.intercept(/^GET .*fileId=nbo\.out/, response => {
        answers += 1
        response.setHeader('content-type', 'text/html').end(`<html>Sign in, ticket ${answers % 7}</html>`)
      })
      t.equal(await outcome(testbed.files.lstat(`${folder}/nbo.out`)), 'EIO')
      t.equal(await outcome(testbed.files.readFile(`${folder}/nbo.out`)), 'EIO')
      mend()
      await testbed.pass(1100)
      t.equal(await textOf(testbed, `${folder}/nbo.out`), '')
    },
  )

  for (const title of ['nbo.out', 'summary.html'])
    t.test(`READ-6 a page for ${title} is EIO while the service gives no record as JSON`, async t => {
      const testbed = await open(t, { adds: adding([title]) })
      await testbed.files.readdir(folder)
      const mend = testbed.service.page(/^GET /, '<html>Sign in</html>')
      t.equal(await outcome(testbed.files.readFile(`${folder}/${title}`)), 'EIO')
      mend()
      await testbed.pass(6_000)
      t.equal(await textOf(testbed, `${folder}/${title}`), '')
    })

  t.test('READ-6 a page is no geometry', async t => {
    const testbed = await open(t)
    testbed.service.page(/^GET .*calculation\/xyz/, '<html>none</html>')
    t.equal(await outcome(testbed.files.readFile('projects/Water splitting/H2O/H2O.xyz')), 'EIO')
  })
}
