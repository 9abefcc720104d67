// Outlives a run by a moment: when the run has gone, however it went, takes away what it left in its directories.
import { clear } from './leftovers.js'

const directories = process.argv.slice(2)

// What ends the run from the terminal must not end this first.
for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined)
process.once('disconnect', () => void clear(directories).finally(() => process.exit(0)))
console.log(JSON.stringify({ directories }))
