// Every promise of the drive, for any testbed that can run them.
import type { Test } from 'tap'
import type { OpenTestbed } from '../testbed/testbed.js'
import { lengths } from './contents/lengths.js'
import { look } from './contents/look.js'
import { replaced } from './contents/replaced.js'
import { times } from './contents/times.js'
import { bursts } from './namespace/bursts.js'
import { deleting } from './namespace/deleting.js'
import { freedNames } from './namespace/freed-names.js'
import { making } from './namespace/making.js'
import { refusals } from './namespace/refusals.js'
import { removingRecords } from './namespace/removing-records.js'
import { reportNames } from './namespace/report-names.js'
import { attributes } from './reading/attributes.js'
import { foreignChanges } from './reading/foreign-changes.js'
import { identity } from './reading/identity.js'
import { listing } from './reading/listing.js'
import { names } from './reading/names.js'
import { outage } from './reading/outage.js'
import { listsInDoubt, poorInstances } from './reading/poor-instances.js'
import { prefetch } from './reading/prefetch.js'
import { reading } from './reading/reading.js'
import { editedAnew, oneDate, recreateService } from './reading/recreated-service.js'
import { rights } from './reading/rights.js'
import { missingRoots, roots } from './reading/roots.js'
import { signIn } from './reading/sign-in.js'
import { xyz } from './reading/xyz.js'
import { doubts } from './saving/doubts.js'
import { editing } from './saving/editing.js'
import { failedSaves, privateDrafts } from './saving/failed-saves.js'
import { lateLists } from './saving/late-lists.js'
import { newFiles } from './saving/new-files.js'
import { newShares } from './saving/new-shares.js'
import { order } from './saving/order.js'
import { otherRecords } from './saving/other-records.js'
import { plainLists } from './saving/plain-lists.js'
import { reportTypes } from './saving/report-types.js'
import { emptyPlaces, rowTitles } from './saving/row-titles.js'
import { turnedLists } from './saving/turned-lists.js'

export type Promises = (t: Test, open: OpenTestbed) => void

/** Most of the time is spent waiting: for what a kernel keeps to be over, for deadlines, for answers that are late on purpose. */
const atOnce = 4

/** Tries all promises of a group on one kind of testbed. */
export function sideBySide(t: Test, group: readonly Promises[], open: OpenTestbed): void {
  t.jobs = atOnce
  for (const promises of group) promises(t, open)
}

export const aboutReading: readonly Promises[] = [
  listing,
  roots,
  names,
  reading,
  look,
  times,
  lengths,
  replaced,
  xyz,
  identity,
  listsInDoubt,
  poorInstances,
]

/** What is read ahead, and what other clients, outages and refusals do to reading. */
export const aboutConditions: readonly Promises[] = [
  prefetch,
  foreignChanges,
  outage,
  refusals,
  signIn,
  missingRoots,
  attributes,
]

/** What is written into one file. */
export const aboutEditing: readonly Promises[] = [
  editing,
  rowTitles,
  reportTypes,
  otherRecords,
  order,
  plainLists,
]

/** What is written under several names of one thing. */
export const aboutAliases: readonly Promises[] = [newFiles, newShares]

/** What is made, renamed and deleted; and never deleted, because it was not meant or not shown. */
export const aboutNames: readonly Promises[] = [
  making,
  deleting,
  removingRecords,
  rights,
  freedNames,
  bursts,
  reportNames,
]

/** What is done where the answers are late, old or lost, and kept of a service that is set up again. */
export const aboutDoubts: readonly Promises[] = [
  doubts,
  failedSaves,
  turnedLists,
  lateLists,
  emptyPlaces,
  privateDrafts,
  recreateService,
  oneDate,
  editedAnew,
]
