// Lets programs save on a mount, each in a session of its own, and holds them at their pauses for what happens meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import pLimit from 'p-limit'
import type { Test } from 'tap'
import { opaque } from '../testbed/sample-data.js'
import { namesOf, textOf } from '../testbed/testbed.js'
import type { warmMount } from '../testbed/warm-mount.js'
import { afterwards, until } from '../testbed/within.js'
import type { Kind } from './savers.js'

/** A program with a report of its own, and the titles that it saves. */
export interface Saving {
  readonly kind: Kind
  readonly id: string
  readonly titles: readonly string[]
}

/** Programs at once: each mostly waits. */
export const together = pLimit(6)

export async function savingGround(
  t: Test,
  open: typeof warmMount,
  { all, before }: { readonly all: readonly Pick<Saving, 'id'>[]; readonly before: string },
) {
  const testbed = await open(t, {
    settings: { ttlListing: '3s' },
    adds(seed) {
      for (const { id } of all)
        seed.addReport({ id, name: id, title: before, description: '', owner: 'demo', fields: opaque })
    },
  })
  const bin = join(testbed.local, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'pause'), '#!/bin/sh\necho "$1" >&3\nread -r _ <&4\n')
  await chmod(join(bin, 'pause'), 0o755)
  const fileOf = (id: string): string => join(testbed.directory, 'reports', `${id}.json`)
  return {
    testbed,
    fileOf,
    /** Carries the program out; answers what it has said. `meanwhile` comes at each of its pauses, after so many saves. */
    async carriedOut(
      { kind, id, titles }: Saving,
      meanwhile: (at: string, saves: number) => Promise<void> = async () => {},
    ): Promise<string> {
      const child = spawn('bash', ['-c', kind.script], {
        detached: true,
        cwd: testbed.local,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
        env: {
          ...process.env,
          PATH: `${bin}:${process.env['PATH']}`,
          HOME: testbed.local,
          file: fileOf(id),
          held: join(testbed.local, `held-${id}.json`),
          titles: titles.join(' '),
        },
      })
      const said: string[] = []
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', piece => said.push(String(piece)))
      const ended = once(child, 'close')
      const callOff = afterwards(60_000, () => {
        said.push('it hangs')
        process.kill(-Number(child.pid), 'SIGKILL')
      })
      const [at, go] = [child.stdio[3] as Readable, child.stdio[4] as Writable]
      go.on('error', () => {})
      let saves = 0
      for await (const point of createInterface(at)) {
        await meanwhile(point, saves)
        if (point === 'save') saves += 1
        go.write('\n')
      }
      await ended
      callOff()
      if (saves !== titles.length) said.push(`it came to ${saves} saves`)
      return said.join('')
    },
  }
}

/** Each saves once while nothing else happens: one update, which the file and the service have, and nothing but its backups is left over. */
export async function savesOnce(
  t: Test,
  { testbed, carriedOut }: Awaited<ReturnType<typeof savingGround>>,
  all: readonly Saving[],
): Promise<void> {
  const { service } = testbed
  const due = all.map(() => 'PUT /report')
  await service.sends(t, due, 'each save is one update, and no other change', () =>
    Promise.all(
      all.map(one =>
        together(async () => {
          const said = await carriedOut(one)
          const isStored = async () =>
            JSON.parse(await service.elsewhere('GET', `/report?id=${one.id}`)).title === one.titles.at(-1)
          await until(20_000, `${one.kind.name} is stored: ${said}`, isStored, 500).catch(late =>
            t.fail(late),
          )
        }),
      ),
    ),
  )
  for (const { kind, id, titles } of all)
    t.equal(JSON.parse(await textOf(testbed, `reports/${id}.json`)).title, titles.at(-1), kind.name)
  const kept = all.flatMap(({ kind, id }) => kind.keeps.map(form => form.replace('%', `${id}.json`)))
  const expected = [...kept, 'INDEX.tsv', 'README.txt', 'by-name'].sort()
  const beside = async () => (await namesOf(testbed, 'reports')).filter(name => !/^\d+(\.json)?$/.test(name))
  // The kernel tells of the end of an open file when it pleases.
  await until(5_000, 'all have cleaned up', async () => (await beside()).length === expected.length).catch(
    () => {},
  )
  t.same(await beside(), expected, 'only backups are left over')
  t.same(await namesOf(testbed, '.calcfs/drafts'), [], 'no draft')
}
