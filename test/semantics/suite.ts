// Every promise of the drive, for whoever has a ground to try them on.
import type { Test } from 'tap'
import type { OpenGround } from '../ground/ground.js'
import { contradictions } from './contradictions.js'
import { deleting } from './deleting.js'
import { doubts } from './doubts.js'
import { editing } from './editing.js'
import { emptyPlaces } from './empty-places.js'
import { foreignChanges } from './foreign-changes.js'
import { foresight } from './foresight.js'
import { freedNames } from './freed-names.js'
import { identity } from './identity.js'
import { intentions } from './intentions.js'
import { listing } from './listing.js'
import { editedAnew, madeAnew } from './made-anew.js'
import { making } from './making.js'
import { names } from './names.js'
import { newFiles } from './new-files.js'
import { oneDate } from './one-date.js'
import { order } from './order.js'
import { otherRecords } from './other-records.js'
import { outage } from './outage.js'
import { privateDrafts } from './private-drafts.js'
import { reading } from './reading.js'
import { refusals } from './refusals.js'
import { replaced } from './replaced.js'
import { reportAliases } from './report-aliases.js'
import { rights } from './rights.js'
import { roots } from './roots.js'
import { rowTitles } from './row-titles.js'
import { shareAliases } from './share-aliases.js'
import { signIn } from './sign-in.js'
import { turnedLists } from './turned-lists.js'
import { unseenTexts } from './unseen-texts.js'
import { xyz } from './xyz.js'

export type Promises = (t: Test, open: OpenGround) => void

/** What is read. */
export const aboutReading: readonly Promises[] = [
  listing,
  roots,
  names,
  reading,
  contradictions,
  replaced,
  xyz,
]

/** What is read ahead, and what other clients, outages and refusals do to reading. */
export const aboutConditions: readonly Promises[] = [foresight, foreignChanges, outage, refusals, signIn]

/** What is written. */
export const aboutWriting: readonly Promises[] = [
  editing,
  rowTitles,
  otherRecords,
  order,
  newFiles,
  reportAliases,
  making,
  deleting,
  rights,
  doubts,
  turnedLists,
  emptyPlaces,
]

/** The same with long waits: each has a file of its own on a real mount, save `freedNames`, which lets an hour pass. */
export const aboutWritingSlowly: readonly Promises[] = [
  shareAliases,
  unseenTexts,
  privateDrafts,
  intentions,
  freedNames,
  identity,
  madeAnew,
  oneDate,
  editedAnew,
]
