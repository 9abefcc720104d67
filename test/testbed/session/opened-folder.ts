// A folder of pictures and outputs that a file manager opens, the limits it is given, and the end of what it asks.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cml } from '../sample-data.js'
import type { TestService } from '../service.js'
import { until } from '../within.js'
import { picture } from './picture.js'

/** A picture below a MiB and one over it, a text, and two big files of no kind. */
export const pictureFolder = {
  'output.cml': cml,
  'homo.png': picture(200, 100),
  'lumo.png': picture(800, 600),
  'run.log': 'x'.repeat(50_000),
  unnamed: 'y'.repeat(2_000_000),
  wave: 'z'.repeat(12 << 20),
}

/** Writes files of settings, by their names below `.config`. */
export async function writeSettings(home: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    const file = join(home, '.config', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Until the service was asked for nothing during `quietMs`; both in milliseconds. */
export async function quiet(
  service: Pick<TestService, 'heard'>,
  { patience, quietMs }: { readonly patience: number; readonly quietMs: number },
): Promise<void> {
  let before = -1
  let since = Date.now()
  await until(patience, 'an end of the requests', () => {
    if (service.heard.length !== before) since = Date.now()
    before = service.heard.length
    return Date.now() - since > quietMs
  })
}
