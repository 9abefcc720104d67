// `calcfs serve` as a process of its own, for tests that kill it.
import { serveCommand } from '../../src/cli/commands/serve.js'

await serveCommand().parseAsync(process.argv)
