// A process of a fleet's tests that is killed: it mounts without a kernel, and reads when it is told to.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../within.js'
import { type FleetNode, isUsed, openFleetNode } from './node.js'
import { everything } from './reads.js'

interface Asked {
  readonly settings: Readonly<Record<string, string>>
  readonly nodes: number
  readonly path: string
}

const { settings, nodes: count, path } = JSON.parse(process.argv[2] ?? '') as Asked
const home = mkdtempSync(join(tmpdir(), 'calcfs-fleet-child-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))
const nodes: FleetNode[] = []
for (let at = 0; at < count; at += 1) {
  const node = await openFleetNode(join(home, String(at)), settings)
  nodes.push(node)
}
for (const node of nodes) await until(60_000, 'the fleet is used', () => isUsed(node))
process.send?.({ home })

process.once('message', () => void Promise.allSettled(nodes.map(node => everything(node, path))))
