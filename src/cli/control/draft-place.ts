// Which of this user's places is meant by the name of a draft where none is named: the only one that has such a draft.
import { join } from 'node:path'
import type { UnmountedDrafts } from '../../app/unmounted-drafts.js'
import { secretVariables } from '../../config/secret.js'
import type { Control, DraftLine } from '../../drive/interface/control.js'
import { fixedNames, lastNameOf, parentOf } from '../../layout.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import type { Configured } from '../../terminal/settings.js'
import { driveAt } from './find-daemon.js'
import { liveMounts } from './select-mount.js'

/** Does the work with the drafts of one place, mounted or not. */
type InPlace = <Result>(work: (control: Control) => Promise<Result>) => Promise<Result>

interface Place {
  /** For people. */
  readonly name: string
  /** The flags that choose it. */
  readonly flags: string
  readonly within: InPlace
}

/**
 * The place whose draft is meant; undefined where none has one of this name or path, or where the configured service's is it anyhow.
 * @throws Stop, with all of them, where several have one
 */
export async function placeOfDraft(given: string, configured: Configured): Promise<InPlace | undefined> {
  const [onDrives, left] = await Promise.all([mountedPlaces(given), unmountedPlaces(given, configured)])
  const [found, ...others] = [...onDrives, ...left]
  if (found === undefined || others.length === 0) return found?.within
  const all = [found, ...others].map(({ name, flags }) => `${name} (${flags})`)
  throw new Stop(
    exitCodes.usage,
    `several places have a draft ${given}, and nothing was done: ${all.join(', ')}; say which one with what stands in brackets.`,
  )
}

/** A drive that does not answer may have it, too: then nothing is chosen. */
async function mountedPlaces(given: string): Promise<readonly Place[]> {
  const asked = await Promise.all(
    (await liveMounts()).map(async ({ path }) => {
      const control = await driveAt(path)
      return { path, control, isThere: hasDraft(await control.drafts({}), given) }
    }),
  )
  return asked
    .filter(({ isThere }) => isThere)
    .map(({ path, control }) => ({ name: path, flags: `--mount ${path}`, within: work => work(control) }))
}

async function unmountedPlaces(given: string, configured: Configured): Promise<readonly Place[]> {
  const { unmountedDrafts } = await import('../../app/unmounted-drafts.js')
  const all = await unmountedDrafts(configured)
  return all
    .filter(({ drafts }) => hasDraft(drafts, given))
    .map(one => ({
      name: `${one.account}, on no drive now`,
      flags: `--url ${one.service ?? '…'} --user ${one.user ?? '…'}`,
      within: async work => {
        const { withoutDaemon } = await import('./without-daemon.js')
        return withoutDaemon(await configuredFor(one, configured), ({ control }) => work(control))
      },
    }))
}

/** The password and token that are configured are for the service and user that are: another one's sign-in is the kept one. */
async function configuredFor(
  { service, user, state }: UnmountedDrafts,
  given: Configured,
): Promise<Configured> {
  const { config, sources } = given
  if (service === undefined || user === undefined)
    throw new Stop(
      exitCodes.usage,
      `which service and user ${state} is of is not known; name them with --url and --user.`,
    )
  const { serviceBase } = await import('../../app/connect.js')
  const isConfigured =
    config.url !== undefined && serviceBase(config).href === service && config.user === user
  if (isConfigured) return given
  const environment = { ...sources.environment, CREDENTIALS_DIRECTORY: undefined }
  for (const name of secretVariables) Object.assign(environment, { [name]: undefined })
  return {
    config: { ...config, url: service, user, passwordCommand: undefined, passwordFile: undefined },
    sources: { ...sources, environment, files: [] },
  }
}

/** As a drive finds one: by its name with or without the ending, by what lies beside it, or by the path of its record. */
function hasDraft(drafts: readonly Pick<DraftLine, 'name' | 'path'>[], given: string): boolean {
  if (drafts.some(({ path }) => path !== undefined && path === join('/', given))) return true
  const isName = !given.includes('/') || parentOf(given).endsWith(`${fixedNames.own}/${fixedNames.drafts}`)
  if (!isName) return false
  const bare = lastNameOf(given)
  const names = [
    bare,
    `${bare}.json`,
    `${bare}.txt`,
    bare.replace(/\.why$/, ''),
    bare.replace(/\.theirs(\.json)$/, '$1'),
  ]
  return drafts.some(({ name }) => names.includes(name) || names.includes(name.replace(/\.damaged$/, '')))
}
