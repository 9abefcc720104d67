// Places for requests, on a clock that tests wind by hand: users before guesses, a share for questions, and how many there are.
import t from 'tap'
import { openAskers } from '../../../src/remote/askers.js'
import { Limiter, type Place, type TrafficClass } from '../../../src/remote/client/limiter.js'
import type { Clock } from '../../../src/remote/clock.js'
import { instant, type RequestContext } from '../../../src/remote/remote.js'

t.setTimeout(20_000)

function bed(connections: number) {
  const own = { time: 0 }
  const clock: Clock = { now: () => instant(own.time), after: () => () => {} }
  const limiter = new Limiter(connections, clock)
  const admitted: string[] = []
  const places = new Map<string, Place>()
  function enter(
    name: string,
    priority: RequestContext['priority'],
    weight: TrafficClass = 'question',
    more: { isSilent?: boolean; giveUp?: () => void; context?: Partial<RequestContext> } = {},
  ): void {
    const context: RequestContext = { deadline: instant(60_000), priority, ...more.context }
    const entrant = { weight, context, isSilent: () => more.isSilent === true, giveUp: more.giveUp }
    void Promise.resolve(limiter.enter(entrant)).then(place => {
      admitted.push(name)
      places.set(name, place)
    })
  }
  const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return { own, limiter, admitted, places, enter, settled }
}

t.test('a user finds a place among any number of guesses, and of downloads', async t => {
  for (const connections of [2, 8, 64])
    for (const weight of ['question', 'download'] as const) {
      const { admitted, enter, settled } = bed(connections)
      for (let guess = 0; guess < 100; guess += 1) enter('guess', 'guess', weight)
      await settled()
      enter('user', 'user')
      await settled()
      t.ok(admitted.includes('user'), `${connections} connections full of guesses (${weight})`)
    }
  const { admitted, enter, settled } = bed(16)
  for (let at = 0; at < 100; at += 1) enter('download', 'user', 'download')
  enter('question', 'user')
  await settled()
  t.ok(admitted.includes('question'), 'downloads of users leave places to questions')
  t.equal(admitted.length, 16 - 2 + 1)
})

t.test('a place that gets free is a waiting user’s before a guess’s', async t => {
  const { admitted, places, enter, settled } = bed(2)
  for (const name of ['one', 'two']) enter(name, 'user')
  await settled()
  const askers = openAskers()
  enter('guess', 'guess')
  enter('user', 'user')
  enter('joined', 'guess', 'question', { context: { askers } })
  await settled()
  t.same(admitted, ['one', 'two'])
  askers.join()
  for (const name of ['one', 'two']) places.get(name)?.leave()
  await settled()
  t.same(admitted, ['one', 'two', 'user', 'joined'], 'a guess that a user has joined is a user’s')
})

t.test('a silent request for which no user waits gives up its place to a user, and to no guess', async t => {
  const { admitted, enter, settled } = bed(4)
  const given: string[] = []
  const giveUp = (name: string) => ({ giveUp: () => given.push(name) })
  enter('change', 'guess', 'question', { isSilent: true })
  enter('busy', 'guess', 'question', giveUp('busy'))
  enter('silent', 'guess', 'question', { isSilent: true, ...giveUp('silent') })
  enter('user', 'user')
  enter('further guess', 'guess')
  await settled()
  t.same([admitted.length, given], [4, []])
  enter('next user', 'user')
  await settled()
  t.same([admitted.at(-1), given], ['next user', ['silent']])
})

t.test(
  'quick answers make more places, slow ones none, and a service with too much to do has half',
  async t => {
    const answered = async (milliseconds: number, connections = 64) => {
      const at = bed(connections)
      at.enter('first', 'user')
      await at.settled()
      at.places.get('first')?.answered(30)
      for (let count = 0; count < 200; count += 1) at.enter(`${count}`, 'user')
      for (let count = 0; count < 200; count += 1) {
        await at.settled()
        const place = at.places.get(`${count}`)
        place?.answered(milliseconds)
        place?.leave()
      }
      return at
    }
    t.equal((await answered(150)).limiter.guesses, 14, 'answers that have waited at the service')
    const { limiter, own, admitted, places, enter, settled } = await answered(30)
    t.ok(limiter.guesses > 28, `${limiter.guesses} places`)
    const before = limiter.guesses
    own.time = 1_000
    for (const name of ['late', 'later']) enter(name, 'user')
    await settled()
    for (const name of ['late', 'later']) places.get(name)?.pushedBack()
    for (const name of ['late', 'later']) places.get(name)?.leave()
    t.equal(limiter.guesses, before >> 1, 'two refusals of one moment count once')
    for (let times = 0; times < 10; times += 1) {
      own.time += 1
      enter(`refused ${times}`, 'user')
      await settled()
      places.get(`refused ${times}`)?.pushedBack()
      places.get(`refused ${times}`)?.leave()
    }
    places.get('first')?.leave()
    for (const name of ['one', 'two', 'three']) enter(name, 'user')
    await settled()
    t.same(admitted.slice(-2), ['one', 'two'], 'and never none')
  },
)
