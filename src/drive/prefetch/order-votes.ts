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
  /** A step from one place to another one. */
  stepped(folder: ListedDirectory, from: number, to: number, visited: Visited): void
  /** How far a step would lead in the orders that count, 1 to the very next; undefined for more than a few. */
  distance(folder: ListedDirectory, from: number, to: number, visited: Visited): number | undefined
  /** The orders that explain the steps best, equal ones side by side; none where no order does. */
  leaders(): readonly Direction[]
  /** The steps so far leave no doubt that there is an order. */
  readonly established: boolean
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

export function openOrderVotes(): OrderVotes {
  const scores = new Float64Array(directions.length)
  let most = 0
  let steps = 0
  let best = 0

  const leads = (at: number): boolean => best >= most * 0.4 && (scores[at] ?? 0) >= best * 0.9

  return {
    stepped(folder, from, to, visited) {
      best = 0
      for (const [at, direction] of directions.entries()) {
        const distance = stepsBetween(folder, direction, from, to, visited)
        const vote = distance === 1 ? 1 : distance === undefined ? 0 : skipping
        scores[at] = (scores[at] ?? 0) * decay + vote
        best = Math.max(best, scores[at] ?? 0)
      }
      most = most * decay + 1
      steps += 1
    },
    distance(folder, from, to, visited) {
      const counting = directions.filter((_, at) => steps === 0 || leads(at))
      const found = counting.flatMap(one => stepsBetween(folder, one, from, to, visited) ?? [])
      return found.length === 0 ? undefined : Math.min(...found)
    },
    leaders: () => (steps === 0 ? [] : directions.filter((_, at) => leads(at))),
    get established() {
      return steps >= 3 && best >= most * 0.8
    },
  }
}

/** How many steps through unvisited folders lead there; undefined for more than `skipAtMost`, or the other way. */
function stepsBetween(
  folder: ListedDirectory,
  { order, by }: Direction,
  from: number,
  to: number,
  visited: Visited,
): number | undefined {
  const { sequence, positions } = ordersOf(folder)[order] ?? { sequence: [], positions: [] }
  const goal = positions[to] ?? -1
  let position = positions[from] ?? -1
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
