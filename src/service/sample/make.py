#!/usr/bin/python3
# Makes the sample data again: runs every input file below data/ and writes what a calculation holds beside it.
"""Usage: make.py [calculation directory below data/ ...]    (all of them, if none is named; half an hour of one core)

Needs Debian 12 and, to install the programs, the right to call apt-get. An input file says which program runs it:
.nw NWChem, .mop MOPAC, .in Quantum ESPRESSO (pw.x). Open Babel writes output.cml from the program's log.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent / 'data'
PSEUDOPOTENTIALS = Path('/usr/share/espresso/pseudo')
PACKAGES = [
    'nwchem',
    'mopac',
    'quantum-espresso',
    'quantum-espresso-data',
    'openbabel',
    'python3-openbabel',
    'python3-ase',
    'python3-cclib',
]

# What a calculation keeps besides its input and output.cml, as people upload it: log, geometry, trajectory, vibrations.
EXTRAS = {
    'water/H2O': ['log', 'geometry', 'vibrations'],
    'water/O2': ['log'],
    'water/H2O2': ['log'],
    'water/dimer': ['log', 'trajectory'],
    'solids/Si': ['log'],
    'solids/TiO2': ['log', 'geometry'],
    'sn2/RC': ['trajectory'],
    'sn2/TS': ['log', 'geometry', 'vibrations'],
    'sn2/CH3Br': ['log'],
    'sn2/CH3Cl': ['geometry'],
    'dyes/trans': ['log', 'vibrations'],
    'dyes/cis': ['geometry'],
    'dyes/indigo': ['log'],
    'dyes/ionone': ['geometry'],
    'hcn/HCN': ['log'],
    'hcn/TS': ['log', 'vibrations'],
    'hcn/IRC': ['trajectory'],
    'ammonia/NH3': ['log'],
}
TRANSITION_STATES = {'sn2/TS', 'hcn/TS', 'ammonia/NH3'}
TRAJECTORY_FRAMES = 200


def install_programs():
    if all(shutil.which(program) for program in ['nwchem', 'mopac', 'pw.x', 'obabel']):
        return
    command = ['apt-get', 'install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=900']
    subprocess.run(command + PACKAGES, check=True)


def run(command, directory, log=None):
    """Run one program in its scratch directory; its standard output goes to `log`, where one is named."""
    environment = {**os.environ, 'OMP_NUM_THREADS': '1'}
    output = open(directory / log, 'w') if log else subprocess.DEVNULL
    subprocess.run(command, cwd=directory, env=environment, stdout=output, check=True, timeout=3600)


def run_nwchem(name, scratch):
    run(['nwchem', f'{name}.nw'], scratch, f'{name}.out')
    text = (scratch / f'{name}.out').read_text()
    # Open Babel mixes up the coordinates of a log with several geometries: it is given the last step and what follows.
    steps = [match.start() for match in re.finditer(r'^ +-+\n +Step +\d+\n', text, re.MULTILINE)]
    last = text[: text.index('Job information')] + text[steps[-1] :] if steps else text
    (scratch / 'last.out').write_text(last)
    return 'nwo', 'last.out'


def run_mopac(name, scratch):
    run(['mopac', f'{name}.mop'], scratch)
    return 'mopout', f'{name}.out'


def run_pwscf(name, scratch):
    for pseudopotential in re.findall(r'\S+\.UPF', (scratch / f'{name}.in').read_text()):
        shutil.copy(PSEUDOPOTENTIALS / pseudopotential, scratch)
    run(['pw.x', '-i', f'{name}.in'], scratch, f'{name}.out')
    return 'pwscf', f'{name}.out'


PROGRAMS = {'.nw': run_nwchem, '.mop': run_mopac, '.in': run_pwscf}


def scrubbed(text, scratch):
    """The log without the name of the machine and the place where it ran."""
    text = re.sub(r'(hostname\s*=\s*)\S+', r'\1node', text)
    text = text.replace(str(scratch), '.')
    assert not re.search(r'/(tmp|root|home)/', text), 'the log names a directory of this machine'
    return re.sub(rf'\b{re.escape(socket.gethostname())}\b', 'node', text)


def frames(scratch):
    """The steps of an optimisation (NWChem) or of a reaction path (MOPAC), thinned, as XYZ texts."""
    steps = [path.read_text() for path in sorted(scratch.glob('step-*.xyz'))]
    if not steps:
        lines = next(scratch.glob('*.xyz')).read_text().splitlines(keepends=True)
        size = int(lines[0]) + 2
        steps = [''.join(lines[start : start + size]) for start in range(0, len(lines), size)]
    stride = max(1, len(steps) // TRAJECTORY_FRAMES)
    return steps[:-1:stride] + steps[-1:]


def babel(*arguments):
    return subprocess.run(['obabel', *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def cml(reader, log, program_input):
    """The log as CML. Open Babel finds no charge and no multiplicity in a log of NWChem: both come from its input."""
    from openbabel import openbabel

    conversion = openbabel.OBConversion()
    assert conversion.SetInAndOutFormats(reader, 'cml')
    conversion.AddOption('p', conversion.OUTOPTIONS)
    molecule = openbabel.OBMol()
    assert conversion.ReadFile(molecule, str(log)), f'Open Babel cannot read {log}'
    molecule.SetTitle(program_input.stem)
    if reader == 'nwo':
        text = program_input.read_text()
        charge = re.search(r'^charge +(-?\d+)', text, re.MULTILINE)
        multiplicity = re.search(r'^ +mult +(\d+)', text, re.MULTILINE)
        molecule.SetTotalCharge(int(charge.group(1)) if charge else 0)
        molecule.SetTotalSpinMultiplicity(int(multiplicity.group(1)) if multiplicity else 1)
    return conversion.WriteString(molecule)


def write_results(directory, program_input, log):
    """Write output.cml and the extras of one calculation from its log: (Open Babel's reader, name of the file)."""
    scratch = program_input.parent
    reader, source = log[0], scratch / log[1]
    (directory / 'output.cml').write_text(cml(reader, source, program_input))
    for extra in EXTRAS.get(str(directory.relative_to(DATA)), []):
        if extra == 'log':
            text = program_input.with_suffix('.out').read_text()
            (directory / f'{program_input.stem}.out').write_text(scrubbed(text, scratch))
        elif extra == 'geometry':
            (directory / 'geometry.xyz').write_text(babel('-icml', directory / 'output.cml', '-oxyz'))
        elif extra == 'vibrations':
            (directory / 'vibrations.molden').write_text(babel(f'-i{reader}', source, '-omolden', '--title', program_input.stem))
        elif extra == 'trajectory':
            (directory / 'trajectory.xyz').write_text(''.join(frames(scratch)))


def check(directory):
    """One imaginary frequency for a transition state, none for anything else; says what was found."""
    text = (directory / 'output.cml').read_text()
    imaginary = re.search(r'me:imFreqs">\s*<(?:scalar|array)[^>]*>([^<]*)<', text)
    waves = imaginary.group(1).split() if imaginary else []
    waves += [w for w in ' '.join(re.findall(r'me:vibFreqs">\s*<array[^>]*>([^<]*)<', text)).split() if float(w) < 0]
    expected = 1 if str(directory.relative_to(DATA)) in TRANSITION_STATES else 0
    assert len(waves) == expected, f'{directory}: imaginary frequencies {waves}'
    energy = re.search(r'"me:ZPE">\s*<scalar[^>]*>([^<]*)<', text)
    print(directory.relative_to(DATA), f'{energy.group(1).strip()} kJ/mol' if energy else 'no energy', *waves, flush=True)


def calculate(directory):
    source = next(path for path in sorted(directory.iterdir()) if path.suffix in PROGRAMS)
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        shutil.copy(source, scratch)
        log = PROGRAMS[source.suffix](source.stem, scratch)
        for path in directory.iterdir():
            if path != source:
                path.unlink()
        write_results(directory, scratch / source.name, log)
    check(directory)


def main():
    install_programs()
    named = [DATA / name for name in sys.argv[1:]]
    for directory in named or sorted({path.parent for suffix in PROGRAMS for path in DATA.glob(f'*/*/*{suffix}')}):
        calculate(directory)


if __name__ == '__main__':
    main()
