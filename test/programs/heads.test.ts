// The beginning of a file that a program looks at costs a part of it, and a program that reads all gets all, whatever it did before.
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { printed } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { lines } from '../testbed/service.js'
import { countSent, headBytes, headersBytes } from '../testbed/session/sent-contents.js'
import { drawnFrom } from '../testbed/variants.js'
import { warmMount } from '../testbed/warm-mount.js'
import { within } from '../testbed/within.js'

const mib = 1 << 20
const folder = 'projects/Water splitting/Drawn'

const {
  seed,
  pick: { fraction: draw },
} = drawnFrom()
const endings = ['', '.dat', '.cube', '.log', '.out']
const files = Object.fromEntries(
  Array.from({ length: 16 }, (_, place) => {
    const name = `${Math.floor(draw() * 1e6).toString(36)}-${place}${endings[Math.floor(draw() * endings.length)]}`
    const bytes = Math.floor(place < 12 ? mib + 1 + draw() * 5 * mib : draw() * mib)
    return [name, String.fromCharCode(97 + place).repeat(bytes)] as const
  }),
)
const names = Object.keys(files).toSorted(() => draw() - 0.5)
const big = (name: string): boolean => (files[name]?.length ?? 0) > mib

const filled = (t: Test): ReturnType<typeof warmMount> =>
  warmMount(t, {
    adds: into => into.addCalculation({ name: 'Drawn', project: ids.water, files }),
  })

t.test(`READ-20 a look at the beginning of a file fetches 256 KiB of it at most (seed ${seed})`, async t => {
  const testbed = await filled(t)
  const { service } = testbed
  const sent = countSent(service)

  await testbed.files.readdir(folder)
  for (const name of names) {
    const lookedAt = await look(join(testbed.directory, folder, name), 1 + Math.floor(draw() * 20_000))
    t.equal(lookedAt, files[name]?.slice(0, lookedAt.length), `the beginning of ${name}`)
  }
  await testbed.pass(1_000)
  for (const name of names.filter(big)) {
    t.ok(sent(name).bytes <= headBytes + headersBytes, `${sent(name).bytes} bytes of ${name}`)
    t.equal(sent(name).requests, 1, 'one request')
  }

  for (const name of names) {
    const whole = await printed('cat', [join(testbed.directory, folder, name)])
    t.ok(whole === files[name], `all of ${name}`)
    t.ok(sent(name).bytes <= (files[name]?.length ?? 0) + 2 * headersBytes, 'no byte twice')
    t.ok(sent(name).requests <= 2, `${sent(name).requests} requests`)
  }
})

t.test(`READ-20 a program that copies a file fetches it by one request`, async t => {
  const testbed = await filled(t)
  const { service } = testbed
  for (const name of names) {
    const heard = await service.during(async () => {
      await printed('cp', [join(testbed.directory, folder, name), join(testbed.local, name)])
    })
    const contents = lines(heard).filter(
      line => line.startsWith('GET') && line.includes(encodeURIComponent(name)),
    )
    t.ok(contents.length <= 1, `${contents.length} requests for ${name}`)
  }
})

async function look(path: string, bytes: number): Promise<string> {
  const reading = async (file: FileHandle): Promise<string> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.toString('latin1', 0, bytesRead)
  }
  const file = await within(20_000, `open ${path}`, open(path))
  try {
    return await within(20_000, `read ${path}`, reading(file))
  } finally {
    await within(20_000, `close ${path}`, file.close())
  }
}
