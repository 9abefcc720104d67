// A record's text as a program reads it, which must be its draft or what the drive may show.
import { read } from '../actions/writing.js'
import { fileOf, type Stage, type Thing } from '../stage.js'
import { away, type Content, contentIn, mark, printed, same } from './content.js'
import { observe } from './shown.js'

export interface Loaded {
  /** The text, or the last of it that was JSON. */
  readonly json: string
  readonly base: Content
  readonly others?: readonly Content[] | undefined
}

/** A text of this record that the drive may show now. */
function seen(stage: Stage, thing: Thing, text: string): Content {
  const content = contentIn(thing.kind, text)
  const value = content === undefined ? `text ${mark(text)}` : printed(content)
  observe(fileOf(thing), thing.record, value, stage)
  if (content === undefined) throw new Error(`${fileOf(thing)} shows no JSON without a draft`)
  thing.hasRead = true
  thing.isKnown = true
  if (!thing.met.slice(thing.metSince).some(other => same(other, content))) thing.met.push(content)
  return content
}

/** The record as a program reads it. 'unknown': the service is away, and it was never read. */
export async function loaded(stage: Stage, thing: Thing): Promise<Loaded | 'gone' | 'unknown'> {
  const path = fileOf(thing)
  const text = await textOrErrno(stage, path)
  if (text.errno !== undefined) return missing(stage, thing, text.errno)
  const { draft } = thing
  if (draft === undefined) {
    const base = seen(stage, thing, text.text)
    return { json: text.text, base }
  }
  if (text.text !== draft.text) throw new Error(`${path} shows ${text.text} and not its draft ${draft.text}`)
  return draft
}

/** Whether a record may not be there. */
function missing(stage: Stage, thing: Thing, errno: string): 'gone' | 'unknown' {
  const isAway = !stage.isUp && away.some(one => one === errno)
  const mayBeGone = thing.truth === undefined || thing.record.past.some(({ value }) => value === 'gone')
  if (mayBeGone && errno === 'ENOENT') {
    observe(fileOf(thing), thing.record, 'gone', stage)
    thing.isKnown = false
    return 'gone'
  }
  // A deleted thing is forgotten; during an outage its absence cannot be confirmed.
  if (isAway && (mayBeGone || !thing.isKnown)) return 'unknown'
  throw new Error(`${fileOf(thing)} cannot be read: ${errno}`)
}

type TextOrErrno =
  | { readonly text: string; readonly errno?: undefined }
  | { readonly errno: string; readonly text?: undefined }

async function textOrErrno(stage: Stage, path: string): Promise<TextOrErrno> {
  try {
    return { text: await read(stage, path) }
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return { errno: String(thrown.code) }
    throw thrown
  }
}
