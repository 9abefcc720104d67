// What the drive does not do is refused with the right errno and never pretended.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const project = 'projects/Water splitting'
const calculation = `${project}/TS1_opt`
const report = `reports/${ids.report}.json`
/** EPERM is the drive's answer; a user other than root gets the kernel's EACCES first. */
const notWritable = /^(EPERM|EACCES)$/

export function refusals(t: Test, open: OpenTestbed): void {
  t.test('refusals', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test(
      'DENY-1 files cannot be created in projects and calculations, nor anywhere else but next to records',
      async t => {
        for (const directory of [
          calculation,
          project,
          'projects',
          '',
          'by-id',
          '.calcfs',
          '.calcfs/drafts',
        ]) {
          t.equal(await outcome(overwrite(testbed, `${directory}/new.txt`, 'x')), 'EPERM', directory)
        }
      },
    )

    t.test(
      'DENY-1 files of a calculation and generated texts cannot be written, cut, renamed or deleted',
      async t => {
        for (const path of [
          `${calculation}/run.log`,
          `${calculation}/TS1_opt.xyz`,
          `${project}/.index.tsv`,
          '.calcfs/status.json',
        ]) {
          t.match(await outcome(files.open(path, 'r+')), notWritable, path)
          t.match(await outcome(files.truncate(path, 1)), notWritable, path)
          t.match(await outcome(files.unlink(path)), notWritable, path)
          t.match(await outcome(files.rename(path, `${path}.old`)), notWritable, path)
        }
      },
    )

    t.test('DENY-1 nothing is moved to another project, nor linked: EPERM, never EXDEV', async t => {
      t.equal(await outcome(files.rename(calculation, `${project}/Sub project/TS1_opt`)), 'EPERM')
      t.equal(await outcome(files.rename(`${project}/Sub project`, 'projects/Sub project')), 'EPERM')
      t.equal(await outcome(files.rename(project, 'by-id/project/7')), 'EPERM')
      t.equal(await outcome(files.symlink('H2O', `${project}/link`)), 'EPERM')
    })

    t.test('DENY-1 with --access edit nothing is deleted but what was made here', async t => {
      t.equal(await outcome(files.rmdir(`${project}/Sub project`)), 'EPERM')
      t.match(await outcome(files.unlink(`${calculation}/run.log`)), notWritable)
      t.equal(await outcome(files.rmdir(calculation)), 'EPERM')
      t.equal(await outcome(files.rmdir('reports/42')), 'EPERM')
    })

    t.test('DENY-1 a report that the service does not know cannot be made by its number', async t => {
      t.equal(await outcome(overwrite(testbed, 'reports/99.json', '{}')), 'EPERM')
    })

    t.test('DENY-1 beside the reports an editor has its own files, over a restart as well', async t => {
      await overwrite(testbed, 'reports/notes.txt', 'not for the service')
      t.equal(await outcome(files.rename('reports/notes.txt', 'reports/notes 2.txt')), 'done')
      await testbed.remount()
      t.equal(await textOf(testbed, 'reports/notes 2.txt'), 'not for the service')
      await files.unlink('reports/notes 2.txt')
      for (const name of ['notes.txt', 'notes 2.txt'])
        t.equal(await outcome(files.lstat(`reports/${name}`)), 'ENOENT', name)
    })

    t.test('DENY-1 none of this has reached the service', async t => {
      t.same(
        writes(service.heard).filter(line => line !== 'POST /login'),
        [],
      )
    })

    t.test('SIZE-1 what a colleague did not share is EACCES', async t => {
      service.seed.addProject({ id: '500', name: 'Private', owner: 'guest' })
      t.equal(await outcome(files.readdir('by-id/project/500')), 'EACCES')
    })

    t.test(
      'SIZE-1 what an editor copies to a record changes nothing and succeeds; on contents it is refused',
      async t => {
        t.equal(await outcome(files.chmod(report, 0o600)), 'done')
        t.equal((await files.lstat(report)).mode, 0o644)
        t.match(await outcome(files.chmod(`${calculation}/run.log`, 0o600)), notWritable)
      },
    )
  })

  t.test('SIZE-1 with --access read everything can be read and nothing changed', async t => {
    const testbed = await open(t, { settings: { access: 'read' } })
    const { files } = testbed
    const text = await textOf(testbed, report)
    t.equal(await outcome(overwrite(testbed, report, text)), 'EROFS')
    t.equal(await outcome(files.unlink(report)), 'EROFS')
    t.equal(await outcome(overwrite(testbed, 'reports/scratch', 'x')), 'EROFS')
    t.equal((await files.lstat(report)).mode, 0o444)
    t.equal((await files.lstat(project)).mode, 0o555)
    t.equal((await files.lstat(`${calculation}/run.log`)).mode, 0o444)
  })
}
