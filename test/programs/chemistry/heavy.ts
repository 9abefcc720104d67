// Chemistry programs that are too big for each day: `node bin/setup.mjs --for chemistry` brings them, CALCFS_TEST_FULL runs them.
import { python, type Reader } from './readers.js'

export const heavy: readonly Reader[] = [
  {
    program: 'Jmol',
    lines: `for file in "$CIS/output.cml" "$CIS/geometry.xyz" "$PLAIN/geometry.xyz"; do
  printf 'load "%s"; print {*}.label("%%e %%x %%y %%z"); print {*}.bonds.size' "$file" > read.spt
  java -jar /usr/share/jmol/JmolData.jar -nois read.spt < /dev/null
done`,
    expected: /C -?[\d.]+ -?[\d.]+ -?[\d.]+\n[\s\S]*^27$[\s\S]*^27$[\s\S]*^27$/m,
  },
  {
    program: 'PyMOL',
    lines: `cat > read.py <<'END'
import sys
from pymol import cmd
for number, file in enumerate(sys.argv[-2:]):
    cmd.load(file, f'read{number}')
    print(cmd.count_atoms(f'read{number}'), cmd.get_extent(f'read{number}'), cmd.get_coords(f'read{number}').tolist())
END
pymol -cq read.py -- "$CIS/cis.xyz" "$FORMATS/cis.pdb"`,
    expected: /26 \[\[[\s\S]*\n26 \[\[/,
  },
  {
    program: 'GROMACS',
    lines: `gmx -quiet -nobackup editconf -f "$FORMATS/cis.pdb" -o cis.gro -d 1 > said 2>&1 || { cat said; exit 1; }; cat cis.gro`,
    expected: /^ +26$[\s\S]*C +\d/m,
  },
  {
    program: 'pymatgen',
    lines: python(
      `from pymatgen.core import Molecule
from pymatgen.io.pwscf import PWOutput
from pymatgen.symmetry.analyzer import PointGroupAnalyzer
print(PointGroupAnalyzer(Molecule.from_file(sys.argv[1]), 0.1).sch_symbol)
print(PWOutput(sys.argv[2]).final_energy)
print(Molecule.from_file(sys.argv[3]).get_distance(0, 1))`,
      '$WATER/H2O_opt_freq.xyz',
      '$SILICON/Si.out',
      '$CIS/cis.xyz',
    ),
    expected: /^C2v\n-15\.85\d+\n1\.39\d+/,
  },
  {
    program: 'MDAnalysis',
    lines: python(
      `import MDAnalysis
for file in sys.argv[1:]:
    universe = MDAnalysis.Universe(file)
    print(universe.atoms.n_atoms, [frame.positions.tolist() for frame in universe.trajectory])`,
      '$DIMER/trajectory.xyz',
      '$FORMATS/cis.pdb',
    ),
    expected: /^6 \[\[\[[\s\S]*\n26 \[\[\[/,
  },
  {
    program: 'NWChem',
    lines: `ln -s "$HYDROGEN/H2.nw" .; nwchem H2.nw > H2.out 2>&1 || { tail H2.out; exit 1; }; grep -E 'Total DFT energy|Optimization converged|P.Frequency' H2.out`,
    expected: /-1\.17853\d+[\s\S]*Optimization converged[\s\S]*P\.Frequency/,
  },
  {
    program: 'Avogadro',
    // Its window is looked at until it shows a molecule (spheres have many colours) and does not change any more.
    lines: `cat > look.sh <<'END'
avogadro2 "$1" > said 2>&1 & program=$!
trap 'kill $program' EXIT
same=0
for _ in {1..80}; do
  sleep 1
  import -window root now.ppm
  colours=$(convert now.ppm -unique-colors -format %w info:)
  if [ "$colours" -gt 1000 ] && cmp -s now.ppm before.ppm; then same=$((same + 1)); else same=0; fi
  if [ $same = 2 ]; then echo "a picture:"; sha256sum < now.ppm; exit; fi
  mv now.ppm before.ppm
done
cat said; exit 1
END
TMPDIR=$PWD XDG_RUNTIME_DIR=$PWD xvfb-run -a -s '-screen 0 1000x700x24' bash look.sh "$CIS/cis.xyz"`,
    expected: /^a picture:\n[\da-f]{64}/,
  },
]
