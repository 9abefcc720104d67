// Chemistry programs read calculations straight from a real mount, and say what they say of a copy on the local disk.
import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sampleDirectory } from '../../../src/service/sample.js'
import type { Seed } from '../../../src/service/seed.js'
import { printed } from '../../testbed/programs.js'
import { fillShipped } from '../../testbed/sample-data.js'
import type { TestService } from '../../testbed/service.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { trapTitles } from '../trap-titles.js'
import { daily, type Place, places, type Reader } from './readers.js'

/** The top of a tree, the directory of the files in other formats, and a path without blanks to the calculation of CIS. */
interface Tree {
  readonly top: string
  readonly formats: string
  readonly plain: string
}

/** The calculation with the other formats has a title drawn at random. */
async function trees(t: TestLifetime & { comment(text: string): void }) {
  const [title = ''] = trapTitles(t, 1)
  const files = await otherFormats()
  function fill(seed: Seed): void {
    fillShipped(seed)
    const project = seed.addProject({ name: 'Formats', owner: 'demo' })
    seed.addCalculation({ name: title, project, files })
  }
  const testbed = await warmMount(t, { fill })
  const top = join(testbed.local, 'copy')
  const listed = await readdir(join(testbed.directory, 'projects/Formats'))
  const [shown = ''] = listed.filter(name => !name.startsWith('.'))
  const formats = join('projects/Formats', shown)
  const folder = join(top, formats)
  await mkdir(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  for (const place of places) await copied(place, top, testbed.service)
  await symlink(join(top, 'projects', cis.path), join(top, 'plain'))
  const id = await idOf(cis, testbed.service)
  return {
    testbed,
    drive: {
      top: testbed.directory,
      formats: join(testbed.directory, formats),
      plain: join(testbed.directory, 'by-id/calculation', id),
    },
    copy: { top, formats: folder, plain: join(top, 'plain') },
  }
}

/** What a program says of a tree, with the paths of the tree and of its own directory left out. */
async function said({ lines }: Reader, { top, formats, plain }: Tree, local: string): Promise<string> {
  const work = await mkdtemp(join(local, 'work-'))
  const variables = places.map(({ variable, path }) => [variable, join(top, 'projects', path)])
  const output = await printed('bash', ['-c', `set -euo pipefail\n${lines}`], {
    cwd: work,
    limit: 120_000,
    environment: {
      ...Object.fromEntries(variables),
      FORMATS: formats,
      PLAIN: plain,
      HOME: work,
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
    },
  })
  return output.replaceAll(work, 'WORK').replaceAll(plain, 'PLAIN').replaceAll(top, 'TREE')
}

async function otherFormats(): Promise<Readonly<Record<string, string>>> {
  const sample = (path: string): string => join(sampleDirectory(), path)
  const converted = (path: string, from: string, to: string): Promise<string> =>
    printed('obabel', [`-i${from}`, sample(path), `-o${to}`])
  const energies = Array.from({ length: 86 }, (_, point) => `${point} ${Math.sin(point / 27)}\n`)
  return {
    'cis.pdb': await converted('dyes/cis/geometry.xyz', 'xyz', 'pdb'),
    'cis.mol': await converted('dyes/cis/geometry.xyz', 'xyz', 'mol'),
    'rutile TiO₂.cif': await converted('solids/TiO2/TiO2_rutile.out', 'pwscf', 'cif'),
    'HCN.mop': await printed('cat', [sample('hcn/HCN/HCN.mop')]),
    'path.dat': energies.join(''),
  }
}

/** The sample's own files, and the generated geometry as the service sends it. */
async function copied(place: Place, top: string, service: TestService): Promise<void> {
  const folder = join(top, 'projects', place.path)
  await cp(join(sampleDirectory(), place.data), folder, { recursive: true })
  const text = await service.elsewhere('GET', `/calculation/xyz?id=${await idOf(place, service)}`)
  const [name = ''] = place.path.split('/').slice(-1)
  await writeFile(join(folder, `${name}.xyz`), text)
}

/** By the name that the platform has, in which `%2F` is a slash. */
async function idOf({ path }: Place, service: TestService): Promise<string> {
  const wanted = encodeURIComponent(`/db/demo/${path.replace('%2F', '/')}`)
  return (await service.elsewhere('GET', `/navigation/path/resolve?path=${wanted}&type=calculation`)).trim()
}

const cis = placeOf('CIS')

function placeOf(variable: string): Place {
  const found = places.find(place => place.variable === variable)
  if (found === undefined) throw new Error(`${variable} names no place`)
  return found
}

t.test('PROG-1 chemistry programs read the drive as they read a copy', async t => {
  const { testbed, drive, copy } = await trees(t)
  const { directory, local } = testbed

  for (const reader of daily) {
    t.test(`${reader.program} says the same of the drive as of a copy`, async t => {
      const ofCopy = await said(reader, copy, local)
      t.match(ofCopy, reader.expected)
      t.equal(await said(reader, drive, local), ofCopy)
    })
  }

  t.test('every geometry of the sample is read by Open Babel', async t => {
    const line = `find projects -name '*.xyz' -print0 | xargs -0 -n 1 obabel -ocan 2>&1 | grep -c 'molecule converted'`
    const found = await printed('bash', ['-c', line], { cwd: directory })
    t.ok(Number(found) > 8, `${found.trim()} geometries`)
  })
})
