// Sequences that once failed, as they were printed when they had shrunk: they are played before any random one.
import type { Access } from './stage.js'
import type { Step } from './steps.js'

export interface Regression {
  /** What went wrong. */
  readonly name: string
  /** The seed that found it, with the steps as they were then. */
  readonly seed: number
  readonly access: Access
  readonly steps: readonly Step[]
}

const style = 'overwrite'

export const regressions: readonly Regression[] = [
  {
    name: 'a calculation stood twice in a list, and a new title of one row became the title of both',
    seed: 1,
    access: 'manage',
    steps: [
      { does: 'order', at: 0, change: 'add by path', by: 2, style },
      { does: 'edit', kind: 'report', at: 0, change: 'drop', by: 0, style },
      { does: 'edit', kind: 'report', at: 0, change: 'retitle', by: 4, style },
    ],
  },
  {
    name: 'a calculation was deleted from the middle of a list, and a new title of a row after it was EIO',
    seed: 5,
    access: 'edit',
    steps: [
      { does: 'elsewhere', kind: 'calculation', at: 0, change: 'delete' },
      { does: 'edit', kind: 'report', at: 0, change: 'description', by: 0, style },
      { does: 'edit', kind: 'report', at: 0, change: 'retitle', by: 0, style },
    ],
  },
  {
    name: 'a row was doubled, and its place went out twice',
    seed: 3,
    access: 'manage',
    steps: [{ does: 'edit', kind: 'report', at: 0, change: 'twice the same', by: 0, style }],
  },
  {
    name: 'a share was deleted at the unmount, and the next mount listed it',
    seed: 3,
    access: 'manage',
    steps: [{ does: 'rm', kind: 'share', at: 0, next: 'remount' }],
  },
  {
    name: 'a draft was gone after an unmount in order, while its process went on',
    seed: 1233421679,
    access: 'manage',
    steps: [
      { does: 'leave' },
      { does: 'edit', kind: 'report', at: 0, change: 'description', by: 0, style },
      { does: 'remount' },
    ],
  },
  {
    name: 'a row named a deleted calculation, and without the service the order could not be read',
    seed: 738863364,
    access: 'manage',
    steps: [
      { does: 'rm -r', kind: 'calculation', at: 5, stops: false },
      { does: 'leave' },
      { does: 'rm -r', kind: 'project', at: 0, stops: false },
    ],
  },
  {
    name: 'of a calculation that stood twice the titled row was moved with its old number, and nothing was saved',
    seed: 20261171,
    access: 'manage',
    steps: [
      { does: 'rm -r', kind: 'calculation', at: 0, stops: false },
      { does: 'edit', kind: 'report', at: 1, change: 'description', by: 0, style },
      { does: 'edit', kind: 'report', at: 3, change: 'add by path', by: 0, style },
      { does: 'edit', kind: 'report', at: 1, change: 'reverse', by: 0, style },
    ],
  },
  {
    name: 'a list was turned by two, and a draft of it was read as an order by its old numbers (EINVAL)',
    seed: 20261121,
    access: 'manage',
    steps: [
      { does: 'edit', kind: 'report', at: 3, change: 'reverse', by: 0, style },
      { does: 'elsewhere', kind: 'report', at: 3, change: 'reverse' },
      { does: 'pass', milliseconds: 13_000 },
      { does: 'edit', kind: 'report', at: 3, change: 'description', by: 0, style },
    ],
  },
  {
    name: 'a calculation stood twice, and an unchanged order.txt gave its untitled row an empty title',
    seed: 31339,
    access: 'manage',
    steps: [
      { does: 'edit', kind: 'report', at: 0, change: 'add by path', by: 0, style },
      { does: 'order', at: 0, change: 'reverse', by: 0, style },
      { does: 'order', at: 0, change: 'nothing', by: 0, style },
    ],
  },
]
