// Times of files, directories and records: never later than first seen, and they stand.
import { basename } from 'node:path'
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import type { OpenTestbed, Testbed } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const hour = 3_600_000
/** How a service writes a date, and how far its clock or zone is ahead. */
const writings: Readonly<Record<string, (at: number) => string>> = {
  'with a zone': at => `"${new Date(at).toISOString()}"`,
  'without a zone': at => `"${new Date(at).toISOString().slice(0, 19)}"`,
  'with a blank and no zone': at => `"${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}"`,
  'in milliseconds': at => String(at),
}
const bytes = 'a file\n'

export function times(t: Test, open: OpenTestbed): void {
  const { seed, draw } = drawnFrom()
  const dealt = Array.from({ length: 12 }, (_, number) => ({
    id: String(6000 + number),
    name: `Dated ${number}`,
    way: Object.keys(writings)[draw(4)] as string,
    /** From two days ago to two days ahead. */
    ahead: (draw(97) - 48) * hour,
    /** Of Last-Modified; none, or that of the answer itself. */
    modified: draw(4) === 0 ? undefined : draw(4) === 0 ? ('the answer' as const) : (draw(97) - 48) * hour,
  }))
  const began = Math.floor(Date.now() / 1000) * 1000

  function fill(into: Seed): void {
    const dateOf = ({ way, ahead }: (typeof dealt)[number]) => writings[way]?.(began + ahead)
    const fieldsOf = (one: (typeof dealt)[number]) =>
      `{"creationDate":${dateOf(one)},"modificationDate":${dateOf(one)}}`
    for (const one of dealt) {
      const fields = fieldsOf(one)
      const project = into.addProject({ name: one.name, owner: 'demo', fields })
      into.addCalculation({ id: one.id, name: one.name, project, files: { 'a.out': bytes }, fields })
    }
  }

  async function timesOf({ files }: Testbed, name: string): Promise<Record<string, number>> {
    const project = `projects/${name}`
    const paths = ['', '/.project.json', `/${name}`, `/${name}/.calculation.json`, `/${name}/a.out`]
    const found: Record<string, number> = {}
    for (const path of paths) found[path] = (await files.lstat(`${project}${path}`)).mtimeMs
    return found
  }

  t.test(
    `TIME-1 no time is later than first seen, and none moves, whatever the service says (seed ${seed})`,
    async t => {
      const testbed = await open(t, { fill })
      testbed.service.intercept(/^(GET|HEAD) .*bitstream\?id=6/, (response, { heard }) => {
        const one = dealt.find(({ id }) => heard.path.includes(`id=${id}&`))
        const modified = one?.modified
        const now = new Date().toUTCString()
        response.setHeader('date', now)
        if (modified === 'the answer') response.setHeader('last-modified', now)
        else if (modified !== undefined)
          response.setHeader('last-modified', new Date(began + modified).toUTCString())
        response.writeHead(200, { 'content-length': bytes.length })
        response.end(heard.method === 'HEAD' ? undefined : bytes)
      })
      const seen = new Map<string, Record<string, number>>()
      for (const { name, ahead, modified } of dealt) {
        const found = await timesOf(testbed, name)
        const last = Date.now()
        for (const [path, time] of Object.entries(found)) t.ok(time <= last, `${name}${path} is not ahead`)
        const file = found[`/${name}/a.out`] ?? 0
        if (typeof modified === 'number') {
          if (modified < 0) t.equal(file, began + modified, `${basename(name)} has its Last-Modified`)
          else t.ok(file >= began && file <= last, 'no date ahead')
        } else if (ahead < 0) t.equal(file, began + ahead, `${name}: its calculation’s date`)
        seen.set(name, found)
      }
      for (const { name } of dealt) await testbed.files.readFile(`projects/${name}/${name}/a.out`)
      for (const { name } of dealt) t.same(await timesOf(testbed, name), seen.get(name), 'after a read')
      await testbed.remount()
      for (const { name } of dealt) t.same(await timesOf(testbed, name), seen.get(name), 'after a restart')
    },
  )
}
