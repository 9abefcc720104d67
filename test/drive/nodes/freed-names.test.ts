// What the names of folders cost in memory: those of very many equal titles are remembered, and only up to a bound.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { openFreedNames } from '../../../src/drive/names/freed-names.js'
import type { NamedChild } from '../../../src/drive/nodes/name.js'
import { instant } from '../../../src/remote/remote.js'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

/** Bytes in use once garbage is gone. */
function held(): number {
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

/** A project and a calculation of each title. */
function pairs(of: number, count: number): NamedChild[] {
  return Array.from({ length: count }, (_, at) => at).flatMap(at => {
    const child = { id: `${of}${String(at).padStart(6, '0')}`, title: `child ${at}` }
    return [
      { kind: 'project', ...child },
      { kind: 'calculation', ...child },
    ] as const
  })
}

t.test('MEM-1 what is remembered of 200,000 contested names is bounded in bytes', async t => {
  const freed = openFreedNames(() => instant(1))
  const before = held()
  for (let of = 1; of <= 10; of += 1) freed.name(`project ${of}`, pairs(of, 20_000))
  const bytes = held() - before
  t.ok(bytes < 48 << 20, `${Math.round(bytes / 2 ** 20)} MB are held`)
  t.match(freed.name('project 10', pairs(10, 1)).names, ['child 0'], 'and still in use')
})

t.test('DEL-23 a name of 40,000 children that has become free is withheld from its sibling', async t => {
  const freed = openFreedNames(() => instant(1))
  const children = pairs(1, 20_000)
  t.equal(freed.name('project 1', children).names[0], 'child 0')
  const { names, until } = freed.name('project 1', children.slice(1))
  t.match(names[0], /^child 0~c1/)
  t.equal(until, 3_600_001)
})
