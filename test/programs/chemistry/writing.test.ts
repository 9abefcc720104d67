// Programs that write where they read: each is refused, nothing reaches the service, and `calcfs why` says what to do instead.
import { join } from 'node:path'
import t from 'tap'
import { loadSample } from '../../../src/service/sample.js'
import { run } from '../../testbed/programs.js'
import { namesOf, outcome } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(240_000)

const instead = 'A program that writes where it reads, or where it runs, works in a directory of your own'
const calculation = 'projects/Water splitting/Gas-phase molecules/H2O_opt_freq'

/** What a program runs, standing in the calculation, and the file that it wants to make there. */
const attempts: readonly { readonly program: string; readonly line: string; readonly file: string }[] = [
  { program: 'Open Babel', line: 'obabel geometry.xyz -O geometry.pdb', file: 'geometry.pdb' },
  {
    program: "ASE's database",
    line: `/usr/bin/python3 -c "from ase.db import connect
from ase.io import read
connect('all.db').write(read('geometry.xyz'))"`,
    file: 'all.db.lock',
  },
  { program: 'xtb', line: 'OMP_NUM_THREADS=1 xtb geometry.xyz --sp', file: 'charges' },
  { program: 'a lock', line: 'echo $$ > .H2O.out.lock', file: '.H2O.out.lock' },
]

t.test(
  'PROG-1 a program that writes where it reads is refused with EPERM, and why tells of the file and of its directory',
  async t => {
    const testbed = await warmMount(t, { fill: loadSample })
    const { directory, service, calcfs } = testbed
    const folder = join(directory, calculation)
    const before = await namesOf(testbed, calculation)

    for (const { program, line, file } of attempts) {
      await service.sends(t, [], `${program} sends nothing`, async () => {
        const { code, stderr } = await run('bash', ['-c', line], {
          cwd: folder,
          environment: { PATH: '/usr/bin:/bin' },
        })
        t.ok(code !== 0 || /cannot (write|open)/i.test(stderr), `${program} ended with ${code}: ${stderr}`)
      })
      const refused = (name: string) => `Could not make the file /${calculation}/${name} `
      const ofFile = await calcfs('why', join(folder, file))
      t.match(ofFile.stdout, refused(file), program)
      t.match(ofFile.stdout, 'you cannot create files here; the server accepts no uploads.\n', program)
      t.match(ofFile.stdout, instead, program)
      const ofFolder = await calcfs('why', folder)
      t.match(ofFolder.stdout, `Could not make the file /${calculation}/`, program)
      t.match(ofFolder.stdout, instead, program)
    }
    // GROMACS moves what is in its way to such a name.
    t.equal(
      await outcome(testbed.files.rename(`${calculation}/geometry.xyz`, `${calculation}/#geometry.xyz.1#`)),
      'EPERM',
    )
    t.same(await namesOf(testbed, calculation), before)
  },
)
