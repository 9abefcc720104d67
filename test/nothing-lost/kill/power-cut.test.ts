// END-1: a power cut takes what was not fsynced; nothing that was acknowledged is among it.
import t from 'tap'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import { openSubjects, type SubjectKind, subjectKinds } from '../subjects.js'
import { type Moment, moments, powerCut } from './power-cut.js'

t.setTimeout(240_000)

t.test('END-1 after a power cut every acknowledged text is there', async t => {
  const disk = await forgetfulDisk(t)
  // A change that the cut leaves unanswered is waited for by four times its deadline (SAVE-17).
  const settings = { stateDir: disk.directory, deadlineSave: '3s' }
  const testbed = await realMount(t, { settings, preload: calledLocal })
  const subjects = openSubjects(t, testbed)
  const seed = Math.floor(Math.random() * 2 ** 31)
  for (const [at, cut] of (['all', 'any'] as const).entries()) {
    await t.test(`a cut that takes ${words[cut]} (seed ${seed})`, async t => {
      const edits = moments.map((moment, place) => ({ kind: kindAt(moment, place + at), moment }))
      t.same(await powerCut({ testbed, disk, subjects }, { edits, cut, seed }), [])
    })
  }
})

const words = { all: 'all that was not fsynced', any: 'any of it' } as const

/** A file next to the reports stands for none of the records. */
const kindAt = (moment: Moment, at: number): SubjectKind =>
  moment === 'scratch' ? 'report' : (subjectKinds[at % subjectKinds.length] ?? 'report')
