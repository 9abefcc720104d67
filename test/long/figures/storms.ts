// Stat storms: what file managers, indexers and shells look for in every folder is answered without a request.
import type { Seed } from '../../../src/service/seed.js'
import { realMount } from '../../testbed/mount.js'
import { ids, fillSampleData as world } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { outcome, type Testbed } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

/** What is asked for everywhere, as traces of these programs show it; `*` stands for any name. */
const asked: Readonly<Record<string, string>> = {
  'GVFS, Nautilus, Thunar':
    '.hidden .Trash .Trash-1000 .Trash-0 .xdg-volume-info autorun.inf .autorun autorun.sh autorun .comments BDMV VIDEO_TS',
  Dolphin: '.directory .git .svn .hg .bzr CVS folder.jpg',
  'indexers and thumbnailers': '.trackerignore .nomedia .thumbnails .nobackup',
  shells: '.git HEAD .hg .svn .envrc .editorconfig RCS',
  macOS:
    '.DS_Store ._* ._. .localized .metadata_never_index .Spotlight-V100 .fseventsd .TemporaryItems .com.apple.timemachine.donotpresent .VolumeIcon.icns .ql_disablethumbnails .apdisk .Trashes',
  Windows: 'desktop.ini Desktop.ini Thumbs.db thumbs.db AUTORUN.INF Autorun.inf',
}
const names = Object.values(asked).flatMap(some => some.split(' '))

const folders = [
  '',
  'projects',
  'db',
  'db/guest',
  'db/guest/Dyes',
  'reports',
  `reports/${ids.report}`,
  'by-id',
  'by-id/project',
  `by-id/project/${ids.water}`,
  `by-id/calculation/${ids.product}`,
  '.calcfs',
  '.calcfs/drafts',
  'projects/Water splitting',
  'projects/Water splitting/.shares',
  'projects/Water splitting/Sub project',
  'projects/Water splitting/TS1_opt',
  'projects/Water splitting/No geometry',
  ...Array.from({ length: 40 }, (_, at) => `projects/Row ${at}`),
]

function fill(seed: Seed): void {
  world(seed)
  for (let at = 0; at < 40; at += 1)
    seed.addProject({ id: String(500 + at), name: `Row ${at}`, owner: 'demo' })
}

/** A name of the table, or a file's companion on macOS. */
const nameBy = (pick: Chance): string => {
  const name = pick.of(names)
  return name === '._*' ? `._${pick.word(1, 40)}` : name
}

const lookups = 10_000
/** In the cut. */
const fewLookups = 3_000
const atOnce = 500

async function run({ seed, scale, until, say }: Frame): Promise<Result> {
  const pick = chance(seed)
  const wrong: string[] = []
  let done = 0
  await scoped(async scope => {
    const long = { ttlListing: '1h', ttlRecord: '1h', ttlAbsent: '1h' }
    const testbed = await realMount(scope, { fill, settings: long })
    // A folder that was never listed is asked in, too: the storm comes before the listing.
    for (const folder of folders) await testbed.files.stat(folder)
    while (Date.now() < until && done < (scale === 'full' ? 10 * lookups : fewLookups) && wrong.length < 10) {
      const before = done
      const requests = await testbed.service.during(async () => {
        done += await storm(testbed, pick, wrong)
      })
      for (const line of lines(requests))
        wrong.push(`${line} during the lookups ${before} to ${done}, seed ${seed}`)
      if (done % 10_000 === 0) say(`${done} lookups`)
    }
  })
  return { counts: { lookups: done }, wrong }
}

async function storm({ files }: Testbed, pick: Chance, wrong: string[]): Promise<number> {
  for (let at = 0; at < atOnce; at += 1) {
    const path = `${pick.of(folders)}/${nameBy(pick)}`
    const came = await outcome(files.lstat(path))
    if (came !== 'ENOENT') wrong.push(`${path}: ${came}`)
  }
  return atOnce
}

export const storms: Figure = {
  name: 'storms',
  goal: '10,000 lookups of names that file managers try in every folder: 0 requests',
  least: { lookups },
  run,
}
