// What each directory of the drive holds, and how little is asked to show it.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'

export function listing(t: Test, open: OpenTestbed): void {
  t.test('LIST-8 a report that is gone is not listed, until it is opened again', async t => {
    const testbed = await open(t, { settings: { ttlListing: '3s' } })
    const { files, service } = testbed
    const path = `reports/${ids.profile}.json`
    await textOf(testbed, path)
    const isListed = async () => (await namesOf(testbed, 'reports')).includes(ids.profile)
    t.ok(await isListed())
    const back = service.refuse(new RegExp(`^GET /report\\?id=${ids.profile}$`), 404)
    await testbed.pass(3200)
    t.equal(await outcome(files.lstat(path)), 'ENOENT')
    t.notOk(await isListed())
    t.notMatch(await textOf(testbed, 'reports/INDEX.tsv'), new RegExp(`^${ids.profile}\t`, 'm'))
    await testbed.remount()
    t.notOk(await isListed())
    back()
    await testbed.pass(3200)
    await textOf(testbed, path)
    t.ok(await isListed())
  })

  t.test('listing', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('LIST-1 the top shows projects, db, reports, by-id and .calcfs', async t => {
      t.same(await namesOf(testbed, ''), ['.calcfs', 'by-id', 'db', 'projects', 'reports'])
    })

    t.test(
      'LIST-2 a project shows its record, its index, its shares and its children, each of its kind',
      async t => {
        t.same([...(await files.readdir('projects/Water splitting'))].sort(), [
          ['.index.tsv', 'file'],
          ['.project.json', 'file'],
          ['.shares', 'directory'],
          ['H2O', 'directory'],
          ['No geometry', 'directory'],
          ['Sub project', 'directory'],
          ['TS1_opt', 'directory'],
        ])
      },
    )

    t.test('LIST-2 a calculation shows its record, its files and what is generated of them', async t => {
      t.same(await namesOf(testbed, 'projects/Water splitting/TS1_opt'), [
        '.calculation.json',
        'TS1_opt.xyz',
        'empty.txt',
        'input.inp',
        'output.cml',
        'run.log',
      ])
    })

    t.test('LIST-4 the index of a project tells id, kind and name of each child', async t => {
      const rows = (await textOf(testbed, 'projects/Water splitting/.index.tsv')).split('\n')
      t.same(
        rows
          .map(row => row.split('\t').slice(0, 3))
          .slice(1, -1)
          .sort(),
        [
          [ids.empty, 'project', 'Sub project'],
          [ids.transition, 'calculation', 'TS1_opt'],
          [ids.product, 'calculation', 'H2O'],
          [ids.bare, 'calculation', 'No geometry'],
        ].sort(),
      )
    })

    t.test('LIST-6 a pasted path of the web pages works below db, a colleague’s too', async t => {
      t.equal(await textOf(testbed, 'db/demo/Water splitting/TS1_opt/input.inp'), '! B3LYP opt\n')
      t.match(await namesOf(testbed, 'db/guest/Dyes'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
      t.match(await textOf(testbed, 'db/guest/Dyes/Indigo/output.cml'), /elementType="O"/)
      t.same(await namesOf(testbed, 'db'), ['README.txt', 'demo', 'guest'])
    })

    t.test('LIST-6 everything is found by its number', async t => {
      t.match(await namesOf(testbed, `by-id/calculation/${ids.transition}`), ['.calculation.json'])
      t.match(await namesOf(testbed, `by-id/project/${ids.empty}`), [
        '.index.tsv',
        '.project.json',
        '.shares',
      ])
      t.equal(await files.readlink(`by-id/report/${ids.report}`), `../../reports/${ids.report}.json`)
      t.equal(JSON.parse(await textOf(testbed, `by-id/report/${ids.report}`)).id, Number(ids.report))
      t.equal(await outcome(files.lstat('by-id/calculation/999999')), 'ENOENT')
      t.equal(await outcome(files.lstat('by-id/calculation/12x')), 'ENOENT')
    })

    t.test('LIST-8 a report is listed once it was opened, and INDEX.tsv says what it is', async t => {
      t.notMatch(await namesOf(testbed, 'reports'), [`${ids.profile}.json`])
      await files.readFile(`reports/${ids.profile}.json`)
      t.ok((await namesOf(testbed, 'reports')).includes(`${ids.profile}.json`))
      t.match(await textOf(testbed, 'reports/INDEX.tsv'), /^43\tProfile\tReaction energy profile\t2$/m)
    })

    t.test('LIST-9 the folder of a report holds its calculations in order, as links', async t => {
      t.same(await namesOf(testbed, `reports/${ids.report}`), [
        `01-Transition state~${ids.transition}`,
        `02-Water~${ids.product}`,
        `03-Nothing~${ids.bare}`,
        'order.txt',
      ])
      const link = `reports/${ids.report}/01-Transition state~${ids.transition}`
      t.equal((await files.lstat(link)).kind, 'link')
      t.equal(await textOf(testbed, `${link}/input.inp`), '! B3LYP opt\n')
      t.equal(
        (await textOf(testbed, `reports/${ids.report}/order.txt`)).split('\n')[0],
        `${ids.transition}\tTransition state\t/by-id/calculation/${ids.transition}`,
      )
    })

    t.test('LIST-2 .shares holds one file a share', async t => {
      const [name = ''] = await namesOf(testbed, 'db/guest/Dyes/.shares')
      t.match(name, /^\d+\.json$/)
      t.match(JSON.parse(await textOf(testbed, `db/guest/Dyes/.shares/${name}`)), { permission: 'READ' })
    })

    t.test('LIST-1 README.txt says how to find what the service lists nowhere', async t => {
      t.match(await textOf(testbed, 'db/README.txt'), /USER\/PROJECT/)
      t.match(await textOf(testbed, 'reports/README.txt'), /calcfs report add/)
      t.equal(await outcome(files.unlink('reports/README.txt')), 'EPERM')
    })

    t.test(
      'LIST-1 .calcfs says which user is signed in, which report types there are and how the mount is',
      async t => {
        t.same(await namesOf(testbed, '.calcfs'), [
          'README.txt',
          'drafts',
          'report-types.json',
          'status.json',
          'user.json',
        ])
        t.equal(JSON.parse(await textOf(testbed, '.calcfs/user.json')).username, 'demo')
        t.equal(JSON.parse(await textOf(testbed, '.calcfs/report-types.json')).length, 3)
        t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')), {
          user: 'demo',
          answers: true,
          unsent: [],
        })
        t.same(await namesOf(testbed, '.calcfs/drafts'), [])
      },
    )

    t.test('LIST-13 names that programs try everywhere cost no request', async t => {
      const probes = [
        '.Trash',
        '.Trash-1000',
        '.hidden',
        '.DS_Store',
        '._TS1_opt',
        'autorun.inf',
        '.git',
        '.xdg-volume-info',
      ]
      const asked = await service.during(async () => {
        for (const name of probes) {
          t.equal(await outcome(files.lstat(`projects/Water splitting/Sub project/${name}`)), 'ENOENT', name)
          t.equal(await outcome(files.lstat(name)), 'ENOENT', name)
        }
      })
      t.same(lines(asked), [])
    })

    t.test('LIST-13 what is not there is asked for once in five seconds', async t => {
      // Guesses of the walk before may still be under way.
      for (let heard = -1; heard !== service.heard.length; ) {
        heard = service.heard.length
        await new Promise(wake => setTimeout(wake, 500))
      }
      const asked = await service.during(async () => {
        t.equal(await outcome(files.lstat('reports/777.json')), 'ENOENT')
        await testbed.pass(1200)
        t.equal(await outcome(files.lstat('reports/777.json')), 'ENOENT')
      })
      const [first, ...rest] = lines(asked)
      t.equal(first, 'GET /report?id=777')
      t.equal(rest.length, 1, 'and one question whether the platform is there')
    })

    t.test('df shows room', async t => {
      const { bsize, blocks } = await files.statfs()
      t.ok(bsize * blocks > 0)
    })

    t.test('NAME-7 a path through a file is no path', async t => {
      t.equal(await outcome(files.lstat('projects/Water splitting/TS1_opt/input.inp/more')), 'ENOTDIR')
    })
  })

  t.test('LIST-2 of a listing with malformed entries the good ones are shown', async t => {
    const testbed = await open(t)
    const listed = [
      { id: 100, name: 'Water splitting' },
      { name: 'no id' },
      null,
      7,
      { id: 'x y', name: 'odd' },
    ]
    testbed.service.answer(/^GET \/project\/descendant\?id=\d+&type=project/, () => JSON.stringify(listed))
    t.same(await namesOf(testbed, 'projects'), ['.index.tsv', '.project.json', '.shares', 'Water splitting'])
  })

  t.test('LIST-2 a listing without one good entry is an error, and shows no empty directory', async t => {
    for (const [question, directory] of [
      [/^GET \/project\/descendant\?id=\d+&type=calculation/, 'projects/Water splitting'],
      [/^GET \/calculation\/files\?/, 'projects/Water splitting/TS1_opt'],
    ] as const) {
      const testbed = await open(t)
      testbed.service.answer(question, () => JSON.stringify([{ key: 'a1' }, { key: 'b2' }]))
      t.equal(await outcome(testbed.files.readdir(directory)), 'EIO')
    }
  })

  t.test('LIST-13 the same question asked by many at once is one request', async t => {
    const testbed = await open(t)
    const asked = await testbed.service.during(async () => {
      const all = Array.from({ length: 12 }, () => testbed.files.readdir('projects/Water splitting/TS1_opt'))
      await Promise.all(all)
    })
    const questions = lines(asked).filter(line => !line.includes('/bitstream'))
    t.same([...questions].sort(), [...new Set(questions)].sort())
  })
}
