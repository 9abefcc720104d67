// Every promise of the drive, for whoever has a ground to try them on.
import type { Test } from 'tap'
import type { OpenGround } from '../ground/ground.js'
import { editing } from './editing.js'
import { foreignChanges } from './foreign-changes.js'
import { listing } from './listing.js'
import { names } from './names.js'
import { outage } from './outage.js'
import { reading } from './reading.js'
import { refusals } from './refusals.js'
import { roots } from './roots.js'
import { rowTitles } from './row-titles.js'
import { signIn } from './sign-in.js'
import { xyz } from './xyz.js'

export function suite(t: Test, open: OpenGround): void {
  for (const promises of [
    listing,
    roots,
    names,
    reading,
    xyz,
    editing,
    rowTitles,
    foreignChanges,
    outage,
    refusals,
    signIn,
  ])
    promises(t, open)
}
