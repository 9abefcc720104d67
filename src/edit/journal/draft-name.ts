// Name of a draft in `.calcfs/drafts/` and in `calcfs drafts`: a report's like its file, others with their kind.
import { fixedNames } from '../../layout.js'
import type { RecordKey } from './record-key.js'

/** Without an ending: what is about the text is called like it, `42.theirs.json` beside `42.json`. */
export function draftStem(key: RecordKey | undefined, id: string): string {
  if (key === undefined || key.id.includes('/')) return `unknown-${id.slice(0, 8)}`
  if (key.as === 'order') return `${key.id}-${fixedNames.order}`
  if (key.as === 'new') return newStem(key)
  return key.kind === 'report' ? key.id : `${key.kind}-${key.id}`
}

/** What follows the stem: an order has its ending in it. */
export const draftEnding = (stem: string): string => (stem.endsWith(fixedNames.order) ? '' : '.json')

/** What is left of a text that the disk has damaged is called so, after its whole name. */
export const damagedEnding = '.damaged'

/** The whole name, unless two drafts of one record wait. */
export function draftName(key: RecordKey | undefined, id: string): string {
  const stem = draftStem(key, id)
  return stem + draftEnding(stem)
}

/** `new-dyes.json` of the reports is `new-dyes`, `new.json` of project 100's shares `share-100-new`. */
function newStem({ kind, id, project }: RecordKey): string {
  const stem = shortened(id.replace(/\.json$/, ''))
  return kind === 'report' ? stem : `${kind}-${project}-${stem}`
}

/** So that `.theirs.json` and the like still fit: 255 bytes are the end of every name. */
function shortened(stem: string): string {
  let short = stem
  while (Buffer.byteLength(short) > longestStem) short = [...short].slice(0, -1).join('')
  return short
}

const longestStem = 200
