// Direct insertion into a service for tests, benchmarks and the sample: forced ids and odd names allowed.
import type { Contents } from './content/contents.js'
import type { Permission } from './people/rights.js'
import { insertUser, type User, userByName } from './people/users.js'
import { insertCalculation, keepGeometry } from './records/calculations.js'
import { insertProject, projectById, rootOf } from './records/projects.js'
import { parseRecord } from './records/record.js'
import { insertReport, setList } from './records/reports.js'
import { insertShare } from './records/shares.js'
import type { Store } from './store/store.js'

interface RecordSeed {
  /** An id to force, e.g. one beyond 2^53, as digits. */
  readonly id?: string
  /** More fields of a record, as the text of a JSON object; they win over what the service would say. */
  readonly fields?: string
}
interface UserSeed extends Pick<RecordSeed, 'id'> {
  readonly name: string
  readonly password: string
  /** `<name>@example.org` if not given. */
  readonly email?: string
  /** The N of scrypt; Node's own if not given. */
  readonly passwordCost?: number
}
interface ProjectSeed extends RecordSeed {
  readonly name: string
  readonly owner: string
  /** The root of the owner's space if not given. */
  readonly parent?: string
  readonly description?: string
}
type FileSeed = string | Uint8Array
interface CalculationSeed extends RecordSeed {
  readonly name: string
  readonly project: string
  /** `ORC`, `MOP`, … */
  readonly type?: string
  readonly description?: string
  readonly files?: Readonly<Record<string, FileSeed>>
  /** Its geometry; made of its files if not given. */
  readonly xyz?: FileSeed
}
interface ReportSeed extends RecordSeed {
  readonly name: string
  readonly owner: string
  readonly title?: string
  readonly description?: string
  /** Id of a report type: 1 Supporting information, 2 Reaction energy profile, 3 Reaction Graph. */
  readonly type?: string
  readonly configuration?: string
  readonly calculations?: readonly { readonly id: string; readonly title?: string }[]
}
interface ShareSeed extends RecordSeed {
  readonly project: string
  readonly user: string
  readonly permission: Permission
}

export function seedOf(store: Store, contents: Contents, now: () => number) {
  const user = (name: string): User => {
    const found = userByName(store, name)
    if (found === undefined) throw new Error(`there is no user "${name}"`)
    return found
  }
  const date = () => new Date(now()).toISOString()

  return {
    /** Many additions in one transaction: a hundred thousand take seconds. */
    together: <Result>(work: () => Result): Result => store.together(work),
    hasUser: (name: string): boolean => userByName(store, name) !== undefined,
    hasUsers: (): boolean => store.first('SELECT 1 FROM user LIMIT 1') !== undefined,
    /** The id of `/db/<user>`. */
    rootOf: (name: string): string => rootOf(store, user(name).id),

    addUser: (seed: UserSeed): string =>
      store.together(() => {
        const { name, password, passwordCost, email = `${name}@example.org` } = seed
        const owner = { id: seed.id ?? store.nextId('user'), name, email }
        insertUser(store, owner, password, passwordCost)
        const record = recordFrom({ description: `The space of ${name}` })
        insertProject(store, { id: store.nextId('project'), parent: null, owner, name, record, date: date() })
        return owner.id
      }),

    addProject({ name, owner, description = name, fields, ...seed }: ProjectSeed): string {
      const { id = store.nextId('project'), parent = rootOf(store, user(owner).id) } = seed
      const record = recordFrom({ description }, fields)
      insertProject(store, { id, parent, owner: user(owner), name, record, date: date() })
      return id
    },

    addCalculation: ({ project, name, fields, xyz, ...seed }: CalculationSeed): string =>
      store.together(() => {
        const { id = store.nextId('calculation'), type = 'ORC', description = '', files = {} } = seed
        if (projectById(store, project).parent === null)
          throw new Error('a calculation cannot live in the root')
        const record = new Map([
          ['id', id],
          ...recordFrom({ name, type, description }),
          ['parentId', project],
          ...recordFrom({ creationDate: date(), modificationDate: date() }, fields),
        ])
        const stored = Object.entries(files).map(
          ([file, bytes]) => [file, contents.keepBytes(bytes)] as const,
        )
        insertCalculation(store, { id, project, name, record, files: new Map(stored) })
        if (xyz !== undefined) keepGeometry(store, id, contents.keepBytes(xyz))
        return id
      }),

    addReport: ({ owner, name, title = name, type = '1', fields, ...seed }: ReportSeed): string =>
      store.together(() => {
        const { id = store.nextId('report'), description = '', configuration = '', calculations = [] } = seed
        const texts = recordFrom({ name, title, description, configuration }).set('reportType', type)
        const record = new Map([...texts, ...parseRecord(fields ?? '{}')])
        insertReport(store, { id, owner: user(owner), record, date: date() })
        setList(store, id, calculations)
        return id
      }),

    addReportType: (id: string, name: string, status: 'active' | 'inactive'): void =>
      void store.run('INSERT OR REPLACE INTO report_type VALUES (?, ?, ?)', id, name, status),

    addShare({ id = store.nextId('share'), project, permission, fields, ...seed }: ShareSeed): string {
      const record = recordFrom({ permission }, fields)
      insertShare(store, { id, project, user: user(seed.user), record })
      return id
    },
  }
}

/** Each method returns the id of what it made. */
export type Seed = ReturnType<typeof seedOf>

/** Plain texts and, after them, fields that are JSON already. */
function recordFrom(texts: Readonly<Record<string, string>>, fields = '{}') {
  const plain = Object.entries(texts).map(([name, text]): [string, string] => [name, JSON.stringify(text)])
  return new Map([...plain, ...parseRecord(fields)])
}
