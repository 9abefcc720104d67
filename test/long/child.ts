// The process of one figure: runs it and hands its result to the parent.
import { figures } from './figures.js'

/** What the parent hands over as JSON in the first argument. */
export interface Order {
  readonly figure: string
  readonly seed: number
  readonly scale: 'cut' | 'full'
  readonly until: number
}

const order: Order = JSON.parse(process.argv[2] ?? '')
const figure = figures.find(({ name }) => name === order.figure)
if (figure === undefined) throw new Error(`no figure is called ${order.figure}`)

const send = (message: object): Promise<void> =>
  new Promise(sent => {
    process.send?.(message, () => sent())
  })

const result = await figure.run({ ...order, say: line => void send({ line }) })
await send({ result })
process.exit(0)
