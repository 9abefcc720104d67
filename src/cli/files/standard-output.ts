// Standard output, no faster than its reader takes it.
import { once } from 'node:events'

/** Resolves when more may be written. A reader that has gone ends the command (`main.ts`). */
export async function toStandardOutput(piece: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
}
