// The drive: its parts put behind the kernel's verbs, each with the deadline of its kind.
import { dueIn } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import { openFileVerbs } from './file-verbs.js'
import type { Drive } from './interface/verbs.js'
import { openLookupVerbs } from './lookup-verbs.js'
import { openNamespaceVerbs } from './namespace-verbs.js'
import { openPathResolver } from './tree/path-resolver.js'

export function openDrive(parts: DriveParts): Drive {
  const { burst, deadlines } = parts
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
    hides: (node, name) => burst.hides(node, name),
  })
  const lookup = openLookupVerbs(parts, resolver, until.metadata)
  const namespace = openNamespaceVerbs(parts, resolver, until)
  return {
    ...lookup,
    ...openFileVerbs(parts, resolver, until),
    ...namespace,
    // A program that removes looks, lists and removes: while one of these waits for the service, it is at work.
    getattr(path) {
      const attributes = lookup.getattr(path)
      return attributes instanceof Promise ? burst.during(attributes) : attributes
    },
    readdir: path => burst.during(lookup.readdir(path)),
    unlink: path => burst.during(namespace.unlink(path)),
    rmdir: path => burst.during(namespace.rmdir(path)),
  }
}
