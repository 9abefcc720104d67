// Type of a report as it is written: by number, by name, or in the field that shows its name; what is unknown or ambiguous is refused before anything is sent.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Dialect, ReportType, RequestContext } from '../../remote/remote.js'
import type { ReportPorts } from './report-ports.js'

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
  if (said === undefined) throw new Failure('refused', `a report needs a type; there are ${known}`)
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

/**
 * The type that a text says which stands for itself, a new report's.
 * @throws Failure 'refused' for a type that is not listed, or for two of them
 */
export async function typeOfNew(
  ports: ReportPorts,
  written: JsonObject,
  context: RequestContext,
): Promise<ReportType> {
  const [said, name] = [ports.dialect.reportType(written), ports.dialect.reportTypeName(written)]
  const type = await listedType(ports, said ?? name, context)
  if (said !== undefined && name !== undefined && name !== type.title.trim())
    refuseTwo(type, await listedType(ports, name, context))
  return type
}

/**
 * The report with the type that `written` says, in the form that `like` has it in. The same type in other words is no
 * change; where only the name beside it differs from `like`, that name says the type.
 * @throws Failure 'refused' for a type that is not listed, or for two of them
 */
export async function withTypeOf(
  ports: ReportPorts,
  report: JsonObject,
  { written, like }: { readonly written: JsonObject; readonly like: JsonObject },
  context: RequestContext,
): Promise<JsonObject> {
  const { dialect } = ports
  const [said, was] = [dialect.reportType(written), dialect.reportType(like)]
  if (said === undefined && was === undefined) return report
  const [name, nameWas] = [dialect.reportTypeName(written), dialect.reportTypeName(like)]
  const isByName = name !== undefined && name !== nameWas
  if (said === was && !isByName) return dialect.withReportType(report, undefined, like)
  const named = isByName ? await listedType(ports, name, context) : undefined
  const isSaid = said !== was && (said !== undefined || named === undefined)
  const type = isSaid || named === undefined ? await listedType(ports, said, context) : named
  if (named !== undefined) refuseTwo(type, named)
  const isSame = was !== undefined && (was === type.id || was === type.title.trim())
  const typed = dialect.withReportType(report, isSame ? undefined : type, like)
  return isByName ? dialect.withReportTypeName(typed, isSame ? (nameWas ?? name) : type.title) : typed
}

/** Whether another name was written, so that the text of its writer has the number of before still. */
export function hasOldNumber(
  dialect: Dialect,
  checked: JsonObject,
  { base, mine }: { readonly base: JsonObject; readonly mine: JsonObject },
): boolean {
  const [said, was] = [dialect.reportType(mine), dialect.reportType(base)]
  return said === was && dialect.reportType(checked) !== was
}

function refuseTwo(type: ReportType, named: ReportType): void {
  if (type.id === named.id) return
  const both = [type, named].map(({ id, title }) => `${id} (${title})`).join(' and ')
  throw new Failure(
    'refused',
    `the text says two types of report, ${both}: change only one of the two fields, or both to the same type`,
  )
}
