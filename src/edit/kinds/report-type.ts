// Type of a report as it is written: by number or by name; what is unknown or ambiguous is refused before anything is sent.
import { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { JsonObject } from '../../record/json/json.js'
import type { CalculationId, Remote, ReportType, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'

export interface ReportPorts {
  readonly remote: Pick<
    Remote,
    'report' | 'reportTypes' | 'calculation' | 'updateReport' | 'setReportCalculations' | 'answered'
  >
  readonly dialect: Dialect
  /** The calculation at a path of the drive or of the service. @throws Failure 'absent' */
  readonly resolveEntry: (path: string, context: RequestContext) => Promise<CalculationId>
}

/**
 * The listed type of this number, else of this name; upper case counts only where two names differ in nothing else.
 * @throws Failure 'refused', with the list, where there is none or more than one
 */
export async function listedType(
  { remote }: ReportPorts,
  said: string | undefined,
  context: RequestContext,
): Promise<ReportType> {
  const types = await remote.reportTypes(context)
  const known = types.map(({ id, title }) => `${id} (${title})`).join(', ')
  if (said === undefined)
    throw new Failure('refused', `a report needs a type, as calcfs help edits shows; there are ${known}`)
  const byNumber = types.find(({ id }) => id === said)
  if (byNumber !== undefined) return byNumber
  const named = types.filter(({ title }) => title.trim().toLowerCase() === said.toLowerCase())
  const exact = named.filter(({ title }) => title.trim() === said)
  const [type, other] = exact.length === 0 ? named : exact
  if (type === undefined) throw new Failure('refused', `there is no report type ${said}; there are ${known}`)
  if (other === undefined) return type
  throw new Failure(
    'refused',
    `more than one report type is called ${said}: write its number; there are ${known}`,
  )
}

interface TypeSaid {
  readonly written: JsonObject
  readonly like: JsonObject
}

/**
 * The report with the type that `written` says, in the form that `like` has it in. The same type in other words is no
 * change.
 * @throws Failure 'refused' for a type that is not listed, and where only the name beside it differs from `like`
 */
export function withTypeOf(
  ports: ReportPorts,
  report: JsonObject,
  { written, like }: TypeSaid,
  context: RequestContext,
): MaybePromise<JsonObject> {
  const { dialect } = ports
  const [said, was] = [dialect.reports.type(written), dialect.reports.type(like)]
  if (said === undefined && was === undefined) return report
  refuseNameAlone(dialect, { written, like })
  if (said === was) return dialect.reports.withType(report, undefined, like)
  return listedType(ports, said, context).then(type => {
    const isSame = was !== undefined && (was === type.id || was === type.title.trim())
    return dialect.reports.withType(report, isSame ? undefined : type, like)
  })
}

/** The name that the service shows beside the number follows from it. */
function refuseNameAlone({ reports }: Dialect, { written, like }: TypeSaid): void {
  const name = reports.typeName(written)
  if (name === undefined || name === reports.typeName(like)) return
  if (reports.type(written) !== reports.type(like)) return
  const sentence = `${JSON.stringify(name)}: the service fills in the name of the type by itself; change the type, which may be written by number or name`
  throw new Failure('refused', sentence)
}
