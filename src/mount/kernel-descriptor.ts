// The descriptor of /dev/fuse that belongs to one mount: under a number that no other file gets while it may be written to.
import { closeSync, openSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * How many files this process would have to hold open before the number of a closed descriptor is given to another one:
 * a new file gets the lowest number that is free.
 */
const takenBelow = 1_500

/** Below it a number is too easily given to another file. */
const highEnough = 100

/**
 * Runs the mount while all low numbers are taken. libfuse closes its descriptor by itself when a mount ends; a
 * notification that comes too late then finds no file, and never one of ours.
 *
 * @returns its descriptor; undefined where the system does not show it, or there was no such number left
 */
export async function withHighDescriptor(mount: () => Promise<void>): Promise<number | undefined> {
  const before = await fuseDescriptors()
  const held = takeLowNumbers()
  try {
    await mount()
  } finally {
    for (const number of held) closeSync(number)
  }
  const fresh = (await fuseDescriptors()).filter(number => !before.includes(number))
  return fresh.find(number => number >= highEnough)
}

function takeLowNumbers(): readonly number[] {
  const held: number[] = []
  try {
    for (let last = 0; last < takenBelow; held.push(last)) last = openSync('/dev/null', 'r')
  } catch {
    // A small limit, of which the rest is needed for files; or no /dev/null, and the kernel is not told.
    for (const number of held.splice(held.length / 2)) closeSync(number)
  }
  return held
}

const descriptors = '/proc/self/fd'

/** The numbers of all descriptors of /dev/fuse in this process; none where the system does not show them. */
export async function fuseDescriptors(): Promise<readonly number[]> {
  const all = (await readdir(descriptors).catch(noneShown)).map(Number)
  const leads = await Promise.all(all.map(leadsToKernel))
  return all.filter((_, at) => leads[at])
}

/** Whether the number still means /dev/fuse. */
export async function leadsToKernel(descriptor: number): Promise<boolean> {
  return (await readlink(pathOfDescriptor(descriptor)).catch(ignoreClosed)) === '/dev/fuse'
}

/** A link that names the file. */
export const pathOfDescriptor = (descriptor: number): string => join(descriptors, String(descriptor))

const noneShown = (): string[] => []
function ignoreClosed(): undefined {}
