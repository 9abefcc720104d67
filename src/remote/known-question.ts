// Known question: a short question that this instance has answered, for what has to find out whether it is there.

/** Paths that the instance has answered with a token; the owner may store them as JSON. */
export interface KnownQuestions {
  /** Records by their latest answer, then what is about no thing. */
  answered?: readonly string[]
}

/** The question for an instance of which nothing is known: any answer at all shows that it is there. */
export const firstQuestion = '/user/info'

/** A short answer that is not content. */
export const aboutRecord = /^\/(?:project|calculation|report)\?/
/** Nothing that these tell of can be deleted. */
const aboutNoThing = /^\/(?:user\/info|report\/types|report-type)(?:\?|$)/
/** Calculations are deleted by the handful; their project stays. */
const aboutProject = /^\/project\?/
/** Several, because one of them may be deleted; the latest project's is kept besides. */
const recordsKept = 3

/** The instance has answered this GET: a record or what is about no thing is kept as a known question. */
export function noteAnswered(known: KnownQuestions, path: string): void {
  const { answered = [] } = known
  if (path === answered[0] || !(aboutRecord.test(path) || aboutNoThing.test(path))) return
  const all = [path, ...answered.filter(one => one !== path)]
  const project = all.find(one => aboutProject.test(one))
  const records = all
    .filter(one => aboutRecord.test(one))
    .filter((one, at) => at < recordsKept || one === project)
  known.answered = [...records, ...all.filter(one => aboutNoThing.test(one))]
}

/** This was not answered well: a record that is gone is no known question any more. The last one stays, for an outage refuses all. */
export function noteRefused(known: KnownQuestions, path: string): void {
  const { answered = [] } = known
  if (answered.length > 1 && aboutRecord.test(path)) known.answered = answered.filter(one => one !== path)
}

/** This record was deleted here: it would be refused for ever. */
export function noteDeleted(known: KnownQuestions, path: string): void {
  const left = known.answered?.filter(one => one !== path)
  if (left !== undefined) known.answered = left.length > 0 ? left : [firstQuestion]
}

/**
 * The question of a probe, of a check of the token, and of a check whether a refusal counts: one that this instance is known
 * to answer, at first the latest record. After `besides`, which was refused, what is about no thing comes first. Undefined
 * where it has answered nothing else.
 */
export function knownQuestion({ answered = [] }: KnownQuestions, besides?: string): string | undefined {
  return besides === undefined ? answered[0] : answered.findLast(path => path !== besides)
}

/** The same for a check that has to ask something. */
export const likelyQuestion = (known: KnownQuestions, besides?: string): string =>
  knownQuestion(known, besides) ?? knownQuestion(known) ?? firstQuestion
