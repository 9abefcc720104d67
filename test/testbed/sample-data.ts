// What the service of most promises holds: a small group's projects, calculations, reports and shares.
import { loadSample } from '../../src/service/sample.js'
import type { Seed } from '../../src/service/seed.js'

/** The sample that is shipped: its user demo is there already. */
export const fillShipped = (seed: Seed): void =>
  loadSample({ ...seed, addUser: user => (user.name === 'demo' ? '' : seed.addUser(user)) })

/** Ids that promises name. */
export const ids = {
  water: '100',
  empty: '101',
  dyes: '102',
  transition: '1234',
  product: '1235',
  bare: '1236',
  indigo: '1300',
  report: '42',
  profile: '43',
} as const

/** Three atoms, as the service's output.cml has them. */
export const cml = `<?xml version="1.0"?>
<molecule xmlns="http://www.xml-cml.org/schema" id="water">
  <atomArray>
    <atom id="a1" elementType="O" x3="0.000000" y3="0.000000" z3="0.117300"/>
    <atom id="a2" elementType="H" x3="0.000000" y3="0.757200" z3="-0.469200"/>
    <atom id="a3" elementType="H" x3="0.000000" y3="-0.757200" z3="-0.469200"/>
  </atomArray>
</molecule>
`

/** A log of 300,000 bytes in which every place differs from every other. */
export const log = Array.from({ length: 30_000 }, (_, line) => `${String(line).padStart(9, '0')}\n`).join('')

/** Fields of a report that calcfs has never heard of, and numbers that a double cannot hold. */
export const opaque = '{"weight":0.10,"serial":12345678901234567890,"x-lab":{"bench":[1,2.50]}}'

/** The sample, and a project of these calculations; each is called c and its id. */
export const fillMany =
  (calculations: readonly string[], filesOf: (id: string) => Record<string, string> = () => ({})) =>
  (seed: Seed): void => {
    fillSampleData(seed)
    seed.addProject({ id: '900', name: 'Many', owner: 'demo' })
    for (const id of calculations)
      seed.addCalculation({ id, name: `c${id}`, project: '900', files: filesOf(id) })
  }

export function fillSampleData(seed: Seed): void {
  seed.addUser({ name: 'guest', password: 'guest' })
  const { water, empty, dyes, transition, product, bare, indigo, report, profile } = ids
  seed.addProject({ id: water, name: 'Water splitting', owner: 'demo' })
  seed.addProject({ id: empty, name: 'Sub project', owner: 'demo', parent: water })
  seed.addCalculation({
    id: transition,
    name: 'TS1_opt',
    project: water,
    files: { 'input.inp': '! B3LYP opt\n', 'output.cml': cml, 'run.log': log, 'empty.txt': '' },
  })
  seed.addCalculation({ id: product, name: 'H2O', project: water, files: { 'output.cml': cml } })
  seed.addCalculation({ id: bare, name: 'No geometry', project: water, files: { 'job.mop': 'PM7\n' } })
  seed.addProject({ id: dyes, name: 'Dyes', owner: 'guest' })
  seed.addCalculation({ id: indigo, name: 'Indigo', project: dyes, files: { 'output.cml': cml } })
  seed.addShare({ project: dyes, user: 'demo', permission: 'READ' })
  const calculations = [
    { id: transition, title: 'Transition state' },
    { id: product, title: 'Water' },
    { id: bare, title: 'Nothing' },
  ]
  seed.addReport({
    id: report,
    name: 'Supporting',
    title: 'Supporting information',
    owner: 'demo',
    calculations,
    fields: opaque,
  })
  seed.addReport({
    id: profile,
    name: 'Profile',
    owner: 'demo',
    type: '2',
    configuration: 'c1\nc1+c2',
    calculations: calculations.slice(0, 2),
  })
}
