// Ports of saving a report.
import type { CalculationId, Dialect, Remote, RequestContext } from '../../remote/remote.js'

export interface ReportPorts {
  readonly remote: Pick<
    Remote,
    'report' | 'reportTypes' | 'calculation' | 'updateReport' | 'setReportCalculations' | 'answered'
  >
  readonly dialect: Dialect
  /** The calculation at a path of the drive or of the service. @throws Failure 'absent' */
  readonly resolveEntry: (path: string, context: RequestContext) => Promise<CalculationId>
}
