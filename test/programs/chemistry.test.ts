// Chemistry programs read the sample's calculations straight from a real mount.
import { join } from 'node:path'
import t from 'tap'
import { loadSample } from '../../src/service/sample.js'
import { printed, python } from '../testbed/programs.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(240_000)

const water = 'projects/Water splitting/Gas-phase molecules/H2O_opt_freq'

t.test('chemistry programs', async t => {
  const { directory } = await warmMount(t, { fill: loadSample })

  t.test('Open Babel reads output.cml and the generated geometry of water', async t => {
    for (const file of ['output.cml', 'H2O_opt_freq.xyz']) {
      const smiles = await printed('obabel', [join(directory, water, file), '-ocan'])
      t.match(smiles, /^O\t/, file)
    }
  })

  t.test('ASE reads the generated geometry', async t => {
    const program = `
from ase.io import read
atoms = read("${water}/H2O_opt_freq.xyz")
print(atoms.get_chemical_formula(), round(atoms.get_distance(0, 1), 1))`
    t.equal(await printed(python, ['-c', program], { cwd: directory }), 'H2O 1.0\n')
  })

  t.test('cclib reads the log that NWChem wrote', async t => {
    const program = `
import cclib
data = cclib.io.ccread("${water}/H2O.out")
print(data.natom, data.atomnos.tolist())`
    t.equal(await printed(python, ['-c', program], { cwd: directory }), '3 [8, 1, 1]\n')
  })

  t.test('every geometry of the sample is read by Open Babel', async t => {
    const found = await printed(
      'bash',
      [
        '-c',
        `find projects -name '*.xyz' -print0 | xargs -0 -n 1 obabel -ocan 2>&1 | grep -c 'molecule converted'`,
      ],
      { cwd: directory },
    )
    t.ok(Number(found) > 8, `${found.trim()} geometries`)
  })
})
