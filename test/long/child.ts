// The process of one figure: runs it and hands its result to the parent.
import { Frame, type Order } from './engine.js'
import { figures } from './figures.js'

const order: Order = JSON.parse(process.argv[2] ?? '')
const figure = figures.find(({ name }) => name === order.figure)
if (figure === undefined) throw new Error(`no figure is called ${order.figure}`)

const send = (message: object): Promise<void> =>
  new Promise(sent => {
    process.send?.(message, () => sent())
  })

const frame = new Frame(order, figure, line => void send({ line }))
await figure.run(frame)
await send({ result: frame.result() })
process.exit(0)
