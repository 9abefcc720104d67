// Chemistry programs that read a tree: what each runs, and what its output must hold.

/**
 * One program. Its lines run in bash (`set -euo pipefail`) in an empty directory, with the variables of `places`; they print what is compared.
 */
export interface Reader {
  readonly program: string
  readonly lines: string
  /** What a right answer holds: two empty outputs are equal, too. */
  readonly expected: RegExp
}

/** A calculation of the sample: the variable that names its directory in the lines, its path on the drive, its directory in the sample. */
export interface Place {
  readonly variable: string
  readonly path: string
  readonly data: string
}

const place = (variable: string, data: string, path: string): Place => ({ variable, path, data })

export const places: readonly Place[] = [
  place('WATER', 'water/H2O', 'Water splitting/Gas-phase molecules/H2O_opt_freq'),
  place('HYDROGEN', 'water/H2', 'Water splitting/Gas-phase molecules/H2_opt_freq'),
  place('DIMER', 'water/dimer', 'Water splitting/H2O_dimer_opt'),
  place('SILICON', 'solids/Si', 'Water splitting/Electrodes%2Fbulk/Si_vc-relax'),
  place('RUTILE', 'solids/TiO2', 'Water splitting/Electrodes%2Fbulk/TiO2 (rutile)'),
  place('SADDLE', 'sn2/TS', 'SN2 Cl⁻ + CH₃Br/Stationary points/TS1_opt'),
  place('CIS', 'dyes/cis', 'Farbstoffe – π-Systeme/stilbene/cis'),
]

export const python = (program: string, ...files: string[]): string =>
  `/usr/bin/python3 -W ignore - ${files.map(file => `"${file}"`).join(' ')} <<'END'\nimport sys\n${program}\nEND`

/** Installed for `npm test`. */
export const daily: readonly Reader[] = [
  {
    program: 'Open Babel',
    lines:
      'for f in "$WATER/output.cml" "$WATER/H2O_opt_freq.xyz"; do obabel "$f" -ocan; done; obabel "$RUTILE/TiO2_rutile.out" -ipwscf -ocif; obabel "$CIS/output.cml" -oreport',
    expected: /^O\t[\s\S]*_cell_length_a 4\.594[\s\S]*FORMULA: C14H12/,
  },
  {
    program: 'ASE',
    lines: python(
      `from ase.io import read
crystal = read(sys.argv[1], index=-1)
print(crystal.get_potential_energy(), crystal.cell.tolist(), crystal.get_forces().tolist())
print(read(sys.argv[2], format='espresso-in').get_chemical_formula())
saddle = read(sys.argv[3])
print(saddle.get_chemical_formula(), saddle.get_potential_energy())
for step in read(sys.argv[4], index=':'):
    print(step.get_chemical_formula(), step.get_distance(0, 3))`,
      '$SILICON/Si.out',
      '$SILICON/Si.in',
      '$SADDLE/TS.out',
      '$DIMER/trajectory.xyz',
    ),
    expected: /^-215\.68003[\s\S]*\nSi2\nCH3BrCl -83645\.66[\s\S]*H4O2/,
  },
  {
    program: 'cclib',
    lines: python(
      `import cclib
for log in sys.argv[1:]:
    data = cclib.io.ccread(log)
    print(data.natom, data.atomnos.tolist(), data.scfenergies.tolist(), data.atomcoords[-1].tolist())`,
      '$WATER/H2O.out',
      '$SADDLE/TS.out',
    ),
    expected: /^3 \[8, 1, 1\] \[-20\d\d\.\d+[\s\S]*\n6 \[/,
  },
  {
    program: 'RDKit',
    lines: python(
      `from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors
molecule = Chem.MolFromMolFile(sys.argv[1])
print(Chem.MolToSmiles(molecule), rdMolDescriptors.CalcMolFormula(molecule), Descriptors.MolLogP(molecule))
print(Chem.MolToMolBlock(Chem.MolFromXYZFile(sys.argv[2])))`,
      '$FORMATS/cis.mol',
      '$CIS/cis.xyz',
    ),
    expected: /^C\(=C\\c1ccccc1\)\\c1ccccc1 C14H12 3\.857[\s\S]*M {2}END/,
  },
  {
    program: 'MOPAC',
    lines:
      'ln -s "$FORMATS/HCN.mop" .; mopac HCN.mop 2> said || { cat said; exit 1; }; sed -n "/FINAL GEOMETRY/,$ p" HCN.arc; grep "FINAL HEAT" HCN.out',
    expected: /FINAL GEOMETRY[\s\S]*FINAL HEAT OF FORMATION = +29\.846/,
  },
  {
    program: 'xtb',
    lines:
      'OMP_NUM_THREADS=1 xtb "$WATER/H2O_opt_freq.xyz" --sp 2> said | grep -E "TOTAL ENERGY|HOMO-LUMO GAP|GRADIENT NORM"',
    expected: /TOTAL ENERGY +-5\.0702884/,
  },
  {
    program: 'gnuplot',
    lines: `echo 'set term dumb 60 20; set key off; plot ARG1 using 1:2 with lines' > plot; TERM=dumb gnuplot -c plot "$FORMATS/path.dat"`,
    expected: /\*{3}/,
  },
]
