// A folder of pictures and outputs that a file manager opens, the limits it is given, and the end of what it asks.
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { cml } from '../sample-data.js'
import type { TestService } from '../service.js'
import { until } from '../within.js'

/** @returns about `3 * width * height` bytes */
export function picture(width: number, height: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8)
  const rows = Array.from({ length: height }, () => Buffer.concat([Buffer.of(0), randomBytes(3 * width)]))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(rows))), chunk('IEND')]
  return Buffer.concat([signature, ...parts])
}

function chunk(kind: string, content = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(kind), content])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(content.length, 0)
  around.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)])
}

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
