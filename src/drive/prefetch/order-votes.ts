// Order votes: which orders, forwards or backwards, have explained the last steps of one walker.
import { type ListedDirectory, orderCount, ordersOf } from './listed-directory.js'

/** One order in one direction. */
export interface Direction {
  /** Its index among the orders of a directory. */
  readonly order: number
  readonly by: 1 | -1
}

/** Whether a walker was at this place before. */
type Visited = (place: number) => boolean

export interface OrderVotes {
  /** A step from one place to another one; from none where it is the first one in this directory. */
  stepped(folder: ListedDirectory, from: number | undefined, to: number, visited: Visited): void
  /** How far a step would lead in the orders that count, 1 to the very next; undefined for more than a few. */
  distance(folder: ListedDirectory, from: number, to: number, visited: Visited): number | undefined
  /** A step from the one place to the other would lead backwards in all orders that count. */
  isPassed(folder: ListedDirectory, from: number, to: number): boolean
  /** The orders that explain the steps best, equal ones side by side; none where no order does. */
  leaders(): readonly Direction[]
  /** The steps so far leave no doubt that there is an order. */
  readonly established: boolean
  /** The same so far, for another walker. */
  copy(): OrderVotes
}

const directions: readonly Direction[] = Array.from({ length: orderCount }, (_, order) => order).flatMap(
  order => [
    { order, by: 1 },
    { order, by: -1 },
  ],
)
/** A step over more unvisited folders than these is not near. */
export const skipAtMost = 4
/** Folders that were visited before are stepped over, but not without end. */
const lookAtMost = 256
const decay = 0.75
/** What a step over others counts beside one to the very next. */
const skipping = 0.5

interface Score {
  readonly scores: Float64Array
  most: number
  steps: number
  best: number
}

export const openOrderVotes = (): OrderVotes =>
  votesFrom({ scores: new Float64Array(directions.length), most: 0, steps: 0, best: 0 })

function votesFrom(score: Score): OrderVotes {
  const { scores } = score

  const leads = (at: number): boolean =>
    score.best >= score.most * 0.4 && (scores[at] ?? 0) >= score.best * 0.9

  const leaders = (): readonly Direction[] =>
    score.steps === 0 ? [] : directions.filter((_, at) => leads(at))

  return {
    stepped(folder, from, to, visited) {
      score.best = 0
      for (const [at, direction] of directions.entries()) {
        const distance = stepsBetween(folder, direction, from, to, visited)
        const vote = distance === 1 ? 1 : distance === undefined ? 0 : skipping
        scores[at] = (scores[at] ?? 0) * decay + vote
        score.best = Math.max(score.best, scores[at] ?? 0)
      }
      score.most = score.most * decay + 1
      score.steps += 1
    },
    distance(folder, from, to, visited) {
      const counting = directions.filter((_, at) => score.steps === 0 || leads(at))
      const found = counting.flatMap(one => stepsBetween(folder, one, from, to, visited) ?? [])
      return found.length === 0 ? undefined : Math.min(...found)
    },
    isPassed(folder, from, to) {
      const orders = ordersOf(folder)
      const counting = leaders()
      const leadsOn = ({ order, by }: Direction): boolean => {
        const { positions } = orders[order] ?? { positions: [] }
        return ((positions[to] ?? 0) - (positions[from] ?? 0)) * by > 0
      }
      return counting.length > 0 && !counting.some(leadsOn)
    },
    leaders,
    get established() {
      return score.steps >= 3 && score.best >= score.most * 0.8
    },
    copy: () => votesFrom({ ...score, scores: scores.slice() }),
  }
}

/** How many steps through unvisited folders lead there; undefined for more than `skipAtMost`, or the other way. */
function stepsBetween(
  folder: ListedDirectory,
  { order, by }: Direction,
  from: number | undefined,
  to: number,
  visited: Visited,
): number | undefined {
  const { sequence, positions } = ordersOf(folder)[order] ?? { sequence: [], positions: [] }
  const goal = positions[to] ?? -1
  const outside = by > 0 ? -1 : sequence.length
  let position = from === undefined ? outside : (positions[from] ?? -1)
  if ((goal - position) * by <= 0) return undefined
  for (let steps = 1, looks = 0; steps <= skipAtMost && looks < lookAtMost; looks += 1) {
    position += by
    if (position === goal) return steps
    const place = sequence[position]
    if (place === undefined) return undefined
    if (!visited(place)) steps += 1
  }
  return undefined
}
