// Composition root of a mount, from the kernel to the network: caches, journal, editing, drive.
import { openFailureLog } from '../drive/failure-log.js'
import { KernelNews } from '../drive/interface/verbs.js'
import { dayMilliseconds } from '../edit/journal/text-history.js'
import { asFailure, type Failure } from '../failure.js'
import { dueIn, every } from '../remote/clock.js'
import { seldom } from '../seldom.js'
import type { AssemblySettings, Note } from './assembly-settings.js'
import { buildDrive } from './build-drive.js'
import { buildCaches, buildFleet, buildJournal, type Caches } from './build-stores.js'
import { claimPlaces, watchDirectories } from './own-places.js'

/** Builds the drive of one mount. Sends no request: a mount comes up whatever the state of the service. */
export async function assemble(settings: AssemblySettings) {
  const { config, connection, clock, log } = settings
  const { now } = clock
  const { account } = connection
  const say: Note = (sentence, about = {}) => log.warn(about, sentence)
  const note: Note = seldom(say, clock)

  const failureLog = openFailureLog(now)
  const news = new KernelNews()
  const fleet = await buildFleet(settings, say, change => caches.outdate(change))
  let built: ReturnType<typeof buildDrive> | undefined
  const caches: Caches = buildCaches(settings, note, () => built, news, fleet)
  const journal = await buildJournal(settings, note, caches, news)
  const places = await watchDirectories(account, { note, now })
  built = buildDrive(settings, note, caches, journal, { failureLog, news, places })
  const { control, drive, pins, reader, tree, writeSide } = built
  const { drafts, draftStore, history, state } = journal
  writeSide.keptDrafts.adopt()
  for (const { id, damage } of draftStore.found) if (damage !== undefined) log.warn({ draft: id }, damage)
  for (const { directory, cause } of draftStore.damaged)
    log.warn({ directory, cause }, 'a draft cannot be read')

  function keepCapabilities(): void {
    caches.ledger.set('service', 'capabilities', JSON.stringify(connection.capabilities))
  }

  let stopPurging = (): void => {}
  await fleet?.begun('a mount')
  return {
    /** True if anything of this account is cached from earlier mounts. */
    knowsService: caches.knowsService,
    /** Requests the user of the sign-in; returns why that failed, if it did. */
    async introduce(): Promise<Failure | undefined> {
      try {
        const user = await caches.remote.user(dueIn(config.deadlineMetadata, clock))
        // The name of the sign-in is no name that the service tells.
        if (!connection.lacks('user'))
          claimPlaces(account, { known: state, before: caches.catalog.user().known() }, user)
        caches.catalog.user().learn(user)
        keepCapabilities()
        // A disk that is full now may have refused what the last saves have taught: no answer on it counts as fresh.
        if (!caches.ledger.flush()) caches.outdate({ is: 'all' })
        return undefined
      } catch (thrown) {
        return asFailure(thrown)
      }
    },
    /** The `--root`s of which the service says that there is no such project, and has never said anything else. */
    missingRoots: (): Promise<readonly string[]> =>
      journal.roots.neverThere(dueIn(config.deadlineMetadata, clock)),
    drive,
    reader,
    news,
    control,
    failureLog,
    drafts,
    fleet,
    /** The first program that comes finds the top listed, or its listing on its way; where that fails it asks by itself. */
    async listTop(): Promise<void> {
      await tree.list({ kind: 'top' }, dueIn(config.deadlineMetadata, clock, 'guess')).catch(asFailure)
    },
    /** Work after the mount is up: old drafts are reconciled, old texts forgotten. */
    async tidy(): Promise<void> {
      pins.start()
      for (const draft of drafts.unsent()) {
        await writeSide.keptDrafts
          .settle(draft, dueIn(config.deadlineSave, clock, 'guess'))
          .catch(cause => log.warn({ cause, draft: draft.id }, 'a draft could not be compared'))
      }
      await history.purge('at the start')
      stopPurging = every(clock, dayMilliseconds, () => {
        history.purge('later').catch(cause => log.warn({ cause }, 'old texts could not be removed'))
      })
    },
    /** From now on nothing that was removed and waits is deleted. */
    stopDeleting: (): void => writeSide.burst.stop(),
    async close(): Promise<void> {
      stopPurging()
      const pinsClosed = pins.close()
      for (const { path } of await writeSide.burst.close())
        log.warn({ path }, 'this was not deleted: the drive ended before')
      writeSide.newFiles.end()
      await writeSide.records.settled()
      await drafts.leave()
      await history.settled()
      keepCapabilities()
      await caches.content.close()
      await pinsClosed
      await fleet?.close()
      caches.ledger.close()
      state.close()
      await connection.close()
    },
  }
}

export type AssembledDrive = Awaited<ReturnType<typeof assemble>>
