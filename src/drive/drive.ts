// The drive: its parts put behind the kernel's verbs, each with the deadline of its kind.
import { dueIn } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import { openFileVerbs } from './file-verbs.js'
import type { Drive } from './interface/verbs.js'
import { openLookupVerbs } from './lookup-verbs.js'
import { withWatchedDeletes } from './namespace/watched-deletes.js'
import { openNamespaceVerbs } from './namespace-verbs.js'
import { openPathResolver } from './tree/path-resolver.js'

export function openDrive(parts: DriveParts): Drive {
  const { deadlines } = parts
  const within = (milliseconds: number) => (): RequestContext => ({
    ...dueIn(milliseconds, parts.clock),
    requests: parts.requests(),
  })
  const until = {
    metadata: within(deadlines.metadata),
    read: within(deadlines.read),
    save: within(deadlines.save),
  }
  const resolver = openPathResolver(parts.tree, {
    isHidden: parts.isHidden,
    hides: parts.deleteRules.hides,
    listed: parts.deleteRules.listed,
    unlinkedAt: parts.pending.unlinkedAt,
  })
  const verbs = {
    ...openLookupVerbs(parts, resolver, until.metadata),
    ...openFileVerbs(parts, resolver, until),
    ...openNamespaceVerbs(parts, resolver, until),
  }
  return withWatchedDeletes(verbs, parts, until)
}
