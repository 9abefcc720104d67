// Promises of the files that the service generates: how long their bytes are kept, and that those of an older data directory count.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import t from 'tap'
import { seedOf } from '../../src/service/seed.js'
import { openData, startService } from '../../src/service/service.js'
import { openServiceTestbed, scratch, signedIn } from './client.js'

t.setTimeout(60_000)

const cml =
  '<molecule><atomArray><atom elementType="O" x3="0.1" y3="-0.20" z3="1e-3"/></atomArray></molecule>'

/** How many contents lie on the disk. */
const contentsIn = (data: string): number =>
  readdirSync(join(data, 'content'), { recursive: true, withFileTypes: true }).filter(it => it.isFile())
    .length

t.test('bytes of a generated file are kept as long as a calculation has them, and no longer', async t => {
  const data = scratch(t)
  const { service, anna } = await openServiceTestbed(t, { data })
  const { seed } = service
  const first = seed.addProject({ name: 'First', owner: 'anna' })
  const second = seed.addProject({ name: 'Second', owner: 'anna' })
  const add = (name: string, project: string) =>
    seed.addCalculation({ name, project, files: { 'output.cml': cml } })
  const [deleted, inFirst, inSecond] = [add('TS1', first), add('TS1', first), add('TS1', second)]
  const textOf = async (id: string) => (await anna('GET', `/calculation/xyz?id=${id}`)).text
  const made = await textOf(deleted)
  t.match(made, /^1\nTS1\nO /)
  for (const id of [inFirst, inSecond]) t.equal(await textOf(id), made)
  const [lone, loneToo] = [add('lone', first), add('lone, too', first)]
  for (const id of [lone, loneToo]) t.not(await textOf(id), made)
  t.equal(contentsIn(data), 4, 'the CML file and three geometries, each once')

  for (const id of [deleted, lone]) t.equal((await anna('DELETE', `/calculation?id=${id}`)).status, 200)
  t.equal(contentsIn(data), 3)
  for (const id of [inFirst, inSecond]) t.equal(await textOf(id), made, 'after a calculation was deleted')
  t.equal((await anna('DELETE', `/project?id=${first}`)).status, 200)
  t.equal(await textOf(inSecond), made, 'after a project was deleted')
  t.equal(contentsIn(data), 2)
  const copy = seed.addCalculation({ name: 'copy', project: second, files: { 'TS1.xyz': made } })
  t.equal((await anna('DELETE', `/calculation?id=${inSecond}`)).status, 200)
  const own = await anna('GET', `/calculation/files/bitstream?id=${copy}&fileId=TS1.xyz`)
  t.equal(own.text, made, 'a file of its own with these bytes stays')
  t.equal(contentsIn(data), 1)
  t.equal((await anna('DELETE', `/project?id=${second}`)).status, 200)
  t.equal(contentsIn(data), 0, 'nothing is left on the disk')
})

/** What an older version's database has in place of the table of generated files. */
const before = `
CREATE TABLE geometry (
  calculation INTEGER PRIMARY KEY REFERENCES calculation ON DELETE CASCADE, hash TEXT NOT NULL, size INTEGER NOT NULL);
CREATE INDEX geometry_of_content ON geometry (hash);
INSERT INTO geometry SELECT calculation, hash, size FROM generated;
DROP VIEW held;
DROP TABLE generated;
`

t.test('a geometry that an older version kept is served, and goes with its calculation', async t => {
  const data = scratch(t)
  const { store, contents } = openData(data)
  const seed = seedOf(store, contents, Date.now)
  seed.addUser({ name: 'anna', password: 'anna' })
  const project = seed.addProject({ name: 'Dyes', owner: 'anna' })
  const add = (name: string, generated: { xyz?: string }) =>
    seed.addCalculation({ name, project, files: { 'output.cml': cml }, generated })
  const kept = add('kept', { xyz: '0\nas an older version made it\n' })
  const unasked = add('unasked', {})
  store.close()
  const old = new Database(join(data, 'service.db'))
  old.exec(before)
  old.close()
  // Opened twice: the second time there is nothing to take over.
  openData(data).store.close()

  const service = await startService({ data })
  t.teardown(() => service.close())
  const anna = await signedIn(t, service.url, 'anna')
  t.equal((await anna('GET', `/calculation/xyz?id=${kept}`)).text, '0\nas an older version made it\n')
  t.match((await anna('GET', `/calculation/xyz?id=${unasked}`)).text, /^1\nunasked\nO /)
  for (const id of [kept, unasked]) t.equal((await anna('DELETE', `/calculation?id=${id}`)).status, 200)
  t.equal(contentsIn(data), 0)
})

t.test('a CML file in UTF-16 has a geometry, and one that lacks an atom’s place has none', async t => {
  const { service, anna } = await openServiceTestbed(t, { data: scratch(t) })
  const project = service.seed.addProject({ name: 'First', owner: 'anna' })
  const wide = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${cml}`, 'utf16le')
  const torn = cml.replace('</atomArray>', '<atom elementType="H"/></atomArray>')
  const asked = async (bytes: string | Buffer) => {
    const id = service.seed.addCalculation({ name: 'TS1', project, files: { 'output.cml': bytes } })
    return anna('GET', `/calculation/xyz?id=${id}`)
  }
  t.match((await asked(wide)).text, /^1\nTS1\nO +0\.1 +-0\.20 +1e-3\n$/)
  t.equal((await asked(torn)).status, 404)
})
