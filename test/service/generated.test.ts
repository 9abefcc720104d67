// Promises of the files that the service generates: how long their bytes are kept, and that those of an older data directory count.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openServiceTestbed, scratch } from './client.js'

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
