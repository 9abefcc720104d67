// Operations of one instance: one that has never answered and was refused for three existing things is lacking, until the next mount.
import { LRUCache } from 'lru-cache'
import { Failure } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import type { Http, Request } from '../http/http.js'
import type { Dispensable } from '../remote.js'
import type { Capabilities } from './capabilities.js'

/** The operation that shows each thing which the drive leaves out without it. */
export const operationOf = {
  user: 'user/info',
  'report-types': 'report-type',
  shares: 'project/share',
  'project-record': 'project',
  'calculation-record': 'calculation',
  xyz: 'calculation/xyz',
} as const satisfies Record<Dispensable, string>

/** For people: what the drive does without an operation. Each of these is not sent again once it is lacking. */
const consequences: Readonly<Record<string, string>> = {
  'user/info': 'the name of the sign-in is taken for the user',
  'navigation/path/resolve': 'no project is found by its path: give its number with --root',
  'report/types': 'the other path of that list is used',
  'report-type': 'types of reports are not known',
  'project/share': 'projects have no .shares',
  'calculation/xyz': 'calculations have no .xyz',
}

/** One missing geometry, list or share says nothing of the operation. */
const enough = 3
/** Things of which is remembered that they exist. */
const thingsAtMost = 1000

export interface Operations {
  lacks(operation: string): boolean
  /** Whether this failure may mean that the instance has no such operation: it has never answered here. */
  mayLack(operation: string, failure: unknown): failure is Failure
  /** It is about no thing, was refused, and another question was answered. */
  without(operation: string): void
  /** What is lacking and what follows, as far as it is known; for people. */
  lacking(): readonly string[]
  answered(path: string): void
  refused(path: string, failure: unknown): void
}

/** Nothing is lacking at first; what has answered is kept in `capabilities`. */
export function openOperations(capabilities: Capabilities): Operations {
  const refusals = new Map<string, Set<string>>()
  const lacking = new Set<string>()
  const existing = new LRUCache<string, true>(upTo(thingsAtMost))
  const works = (operation: string): boolean => capabilities.works?.includes(operation) === true
  const mayLack = (operation: string, failure: unknown): failure is Failure =>
    failure instanceof Failure && /^(absent|unsupported)$/.test(failure.kind) && !works(operation)

  return {
    lacks: operation => lacking.has(operation),
    mayLack,
    without: operation => void lacking.add(operation),
    lacking: () =>
      [...lacking].map(operation => {
        const then = consequences[operation]
        return then === undefined ? `/${operation}` : `/${operation} (${then})`
      }),
    answered(path) {
      const operation = endpointIn(path)
      const thing = thingIn(path)
      if (thing !== undefined) existing.set(thing, true)
      if (works(operation)) return
      capabilities.works = [...(capabilities.works ?? []), operation]
      lacking.delete(operation)
    },
    refused(path, failure) {
      const operation = endpointIn(path)
      if (!mayLack(operation, failure) || !path.includes('?')) return
      // Of what is called absent, nothing but another answer shows that it exists.
      if (failure.kind === 'absent' && !existing.has(thingIn(path) ?? '')) return
      const refused = refusals.get(operation) ?? new Set<string>()
      refusals.set(operation, refused.add(path))
      if (refused.size >= enough) lacking.add(operation)
    },
  }
}

/** The same service; what it lacks, and the drive can do without, is not asked for. */
export function withOperations(http: Http, operations: Operations): Http {
  function watched<Value>({ method, path }: Request, ask: () => Promise<Value>): Promise<Value> {
    if (method !== 'GET' && method !== 'HEAD') return ask()
    const operation = endpointIn(path)
    if (operations.lacks(operation) && consequences[operation] !== undefined)
      return Promise.reject(
        new Failure('unsupported', `this instance has no operation ${method} /${operation}`),
      )
    if (method === 'HEAD') return ask()
    return ask().then(
      value => {
        operations.answered(path)
        return value
      },
      thrown => {
        operations.refused(path, thrown)
        throw thrown
      },
    )
  }

  return {
    text: (request, context) => watched(request, () => http.text(request, context)),
    jsonText: (request, context) => watched(request, () => http.jsonText(request, context)),
    readInto: (request, reader, context) => watched(request, () => http.readInto(request, reader, context)),
    content: (request, start, context, end, of) =>
      watched(request, () => http.content(request, start, context, end, of)),
    head: (request, context) => watched(request, () => http.head(request, context)),
    firstByte: (request, context) => watched(request, () => http.firstByte(request, context)),
    answered: http.answered,
    get guesses() {
      return http.guesses
    },
    get away() {
      return http.away
    },
    close: http.close,
  }
}

const endpointIn = (path: string): string => path.slice(1).replace(/\?.*/s, '')

/** The project, calculation or report that a question is about. */
function thingIn(path: string): string | undefined {
  const [, kind, id] = /^\/(\w+)[^?]*\?(?:.*&)?id=(\d+)/.exec(path) ?? []
  return id === undefined ? undefined : `${kind} ${id}`
}
