// Sign-in: a token is renewed unseen, and a refused log-in keeps the mount up.
import type { Test } from 'tap'
import { namesOf, type OpenTestbed, outcome } from '../../testbed/testbed.js'

/** A service whose date a test sets forward: all tokens have ended then. */
function aDayLater() {
  let ahead = 0
  const pass = (): void => {
    ahead += 25 * 3_600_000
  }
  return { pass, now: () => Date.now() + ahead }
}

export function signIn(t: Test, open: OpenTestbed): void {
  t.test('SIGN-1 a token that ends is renewed, with one log-in however many ask', async t => {
    const { pass, now } = aDayLater()
    const testbed = await open(t, { service: { now } })
    await testbed.files.readdir('projects')
    pass()
    const before = testbed.service.heard.length
    const all = [
      'Water splitting',
      'Water splitting/TS1_opt',
      'Water splitting/H2O',
      'Water splitting/Sub project',
    ]
    for (const outcomeOf of await Promise.all(
      all.map(path => outcome(testbed.files.readdir(`projects/${path}`))),
    ))
      t.equal(outcomeOf, 'done')
    const logins = testbed.service.heard.slice(before).filter(({ path }) => path === '/login')
    t.equal(logins.length, 1)
  })

  t.test('SIGN-2 a log-in that is refused is EACCES, and the mount stays up', async t => {
    const { pass, now } = aDayLater()
    const testbed = await open(t, { service: { now } })
    await testbed.files.readdir('projects/Water splitting')
    testbed.service.intercept(/^POST \/login/, response => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"wrong password"}')
    })
    pass()
    t.equal(await outcome(testbed.files.readdir('projects/Water splitting/TS1_opt')), 'EACCES')
    t.ok((await namesOf(testbed, '')).includes('projects'))
  })
}
