// END-1: kill -9 of a daemon, and a power cut, at every moment of an edit: nothing that was acknowledged is lost, stored or made twice, or sent by itself.
import { join } from 'node:path'
import t from 'tap'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import { drawnFrom } from '../../testbed/variants.js'
import { openSubjects } from '../subjects.js'
import { moments, planOf, suddenEnd } from './sudden-end.js'

t.setTimeout(240_000)
const { seed, pick } = drawnFrom()
/** A change that the end leaves unanswered is waited for by four times its deadline (SAVE-17). */
const deadlineSave = '3s'
/** Half of the moments for each end. */
const ofOneDay = () => pick.shuffled(moments).slice(0, moments.length / 2)

t.test(`SAVE-16 after kill -9 every written text is there (seed ${seed})`, async t => {
  const testbed = await realMount(t, { settings: { deadlineSave } })
  const stand = { testbed, states: join(testbed.home, 'state', 'calcfs'), subjects: openSubjects(t, testbed) }
  for (const ends of [false, true])
    t.same(await suddenEnd(stand, { ...planOf(pick, ofOneDay()), ends }), [], ends ? 'told to end' : 'killed')
})

t.test(`END-1 after a power cut every acknowledged text is there (seed ${seed})`, async t => {
  const disk = await forgetfulDisk(t)
  const settings = { stateDir: disk.directory, deadlineSave }
  const testbed = await realMount(t, { settings, preload: calledLocal })
  const stand = { testbed, states: disk.directory, disk, subjects: openSubjects(t, testbed) }
  for (const cut of ['all', 'any'] as const)
    t.same(await suddenEnd(stand, { ...planOf(pick, ofOneDay()), cut }), [], cut)
})
