// The drive: its parts put behind the kernel's verbs, each with the deadline of its kind.
import type { MaybePromise } from '../maybe-promise.js'
import { dueIn } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import { openFileVerbs } from './file-verbs.js'
import type { Drive } from './interface/verbs.js'
import { openLookupVerbs } from './lookup-verbs.js'
import { openNamespaceVerbs } from './namespace-verbs.js'
import { Removals } from './removals.js'

export function openDrive(parts: DriveParts): Drive {
  const { deadlines, writeSide } = parts
  const { burst } = writeSide
  const within = (milliseconds: number) => (): RequestContext => ({
    ...dueIn(milliseconds, parts.clock),
    requests: parts.requests(),
  })
  const until = {
    metadata: within(deadlines.metadata),
    read: within(deadlines.read),
    save: within(deadlines.save),
  }
  const lookup = openLookupVerbs(parts, until.metadata)
  const removals = new Removals(parts)
  const namespace = openNamespaceVerbs(parts, removals, until)
  const during = <Value>(work: MaybePromise<Value>): MaybePromise<Value> =>
    work instanceof Promise ? burst.during(work) : work
  return {
    ...lookup,
    ...openFileVerbs(parts, removals, until),
    ...namespace,
    // A program that removes looks, lists and removes: while one of these waits for the service, it is at work.
    lookup: name => during(lookup.lookup(name)),
    getattr: place => during(lookup.getattr(place)),
    readdir: directory => burst.during(lookup.readdir(directory)),
    unlink: name => burst.during(namespace.unlink(name)),
    rmdir: name => burst.during(namespace.rmdir(name)),
  }
}
