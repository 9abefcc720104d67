// REST door: the reading half of the platform's interface over a generated tree, cheap enough never to be the limit.
import { type Calculation, modifiedOf, type Paths, type Place } from '../trees/paths.js'
import type { Project, Tree } from '../trees/trees.js'
import type { Exchange } from './send.js'
import { sendFile, sendText } from './send.js'

const base = '/create/rest/'
const user = 'demo'
const json = { 'content-type': 'application/json; charset=utf-8' }
const aDay = 86_400

/** Answers one request; any user name and password will do, and any bearer token. */
export function restDoor(tree: Tree, paths: Paths): (exchange: Exchange) => void {
  const listings = new Map<string, Buffer>()

  const say = (exchange: Exchange, body: string | Buffer): void => sendText(exchange, 200, body, json)
  const refuse = (exchange: Exchange, status: number, error: string): void =>
    sendText(exchange, status, JSON.stringify({ error }), json)

  /** Made once: the largest is 10 MB, and the text of a listing never changes. */
  function listing(project: Project, type: string, depth: string): Buffer {
    const key = `${project.id} ${type} ${depth}`
    const known = listings.get(key)
    if (known !== undefined) return known
    const levels = depth === 'all' ? Number.POSITIVE_INFINITY : Number(depth)
    const items =
      type === 'project' ? below(project, levels).map(projectItem) : calculationItems(project, levels)
    const made = Buffer.from(`[${items.join(',')}]`)
    listings.set(key, made)
    return made
  }

  const calculationItems = (project: Project, levels: number): string[] =>
    [project, ...below(project, levels - 1)].flatMap(holder =>
      Array.from({ length: holder.count }, (_, index) =>
        calculationText(paths.calculationAt(holder, index), ''),
      ),
    )

  const operations: Readonly<Record<string, (exchange: Exchange, query: URLSearchParams) => void>> = {
    'user/info': exchange => say(exchange, `{"id":1,"username":"${user}","email":"${user}@example.org"}`),
    'navigation/path/resolve': (exchange, query) => {
      const type = query.get('type')
      if (type === 'report') return refuse(exchange, 501, 'reports have no paths')
      const place = placeAt(query.get('path') ?? '')
      if (place?.kind === 'project' && type === 'project') return say(exchange, String(place.project.id))
      if (place?.kind === 'calculation' && type === 'calculation')
        return say(exchange, String(place.calculation.id))
      refuse(exchange, 404, 'there is nothing at this path')
    },
    project: (exchange, query) => {
      const project = paths.project(idIn(query))
      return project === undefined ? unknown(exchange) : say(exchange, projectItem(project))
    },
    'project/descendant': (exchange, query) => {
      const type = query.get('type') ?? 'calculation'
      const depth = query.get('depth') ?? '1'
      exchange.asked.kind = `${depth === '1' ? '' : `${depth} `}${type}s`
      const project = paths.project(idIn(query))
      return project === undefined ? unknown(exchange) : say(exchange, listing(project, type, depth))
    },
    'project/share': exchange => say(exchange, '[]'),
    calculation: (exchange, query) => {
      const calculation = paths.calculation(idIn(query))
      if (calculation === undefined) return unknown(exchange)
      say(
        exchange,
        calculationText(calculation, `,"owner":"${user}","state":"created","published":false,"handle":null`),
      )
    },
    'calculation/files': (exchange, query) => {
      const calculation = paths.calculation(idIn(query))
      if (calculation === undefined) return unknown(exchange)
      const names = calculation.project.files.map(form => form.name)
      if (query.get('type') === 'cml') exchange.asked.kind = 'calculation/files cml'
      const shown = query.get('type') === 'cml' ? names.filter(name => name.endsWith('.cml')) : names
      say(exchange, JSON.stringify(shown))
    },
    'calculation/files/bitstream': (exchange, query) => {
      const calculation = paths.calculation(idIn(query))
      const file = paths.files(calculation ?? nowhere).find(({ name }) => name === query.get('fileId'))
      return file === undefined ? unknown(exchange) : sendFile(exchange, file, 'none')
    },
    'calculation/xyz': (exchange, query) => {
      const file = paths.geometry(paths.calculation(idIn(query)) ?? nowhere)
      return file === undefined ? unknown(exchange) : sendFile(exchange, file, 'none')
    },
    report: (exchange, query) => {
      const report = reportOf(tree, paths, idIn(query))
      return report === undefined ? refuse(exchange, 400, 'invalid id') : say(exchange, report)
    },
    'report/types': exchange => say(exchange, reportTypes),
    'report-type': exchange => say(exchange, reportTypes),
  }

  const nowhere: Calculation = { id: 0, name: '', project: tree.root }
  const unknown = (exchange: Exchange): void => refuse(exchange, 404, 'there is no such id')

  function placeAt(path: string): Place | undefined {
    const [, below] = new RegExp(`^/db/${user}(/.*)?$`).exec(path) ?? []
    return path === `/db/${user}` ? paths.at('/') : below === undefined ? undefined : paths.at(below)
  }

  return exchange => {
    const { request, asked } = exchange
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const endpoint = path.startsWith(base) ? path.slice(base.length) : ''
    asked.kind = endpoint
    if (endpoint === 'login' && request.method === 'POST') return logIn(exchange)
    const operation = operations[endpoint]
    if (operation === undefined) return refuse(exchange, 404, 'there is no such operation')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(exchange, 405, 'this origin is for reading')
    if (!request.headers.authorization?.startsWith('Bearer ')) return refuse(exchange, 401, 'log in first')
    operation(exchange, new URLSearchParams(query))
  }
}

/** A token in the form of a JWT, which is never checked. */
function logIn(exchange: Exchange): void {
  exchange.request.resume()
  const now = Math.floor(Date.now() / 1000)
  const part = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url')
  const token = `${part({ alg: 'none', typ: 'JWT' })}.${part({ sub: user, iat: now, exp: now + aDay })}.bench`
  sendText(exchange, 200, token, { 'content-type': 'text/plain' })
}

const idIn = (query: URLSearchParams): number => Number(query.get('id') ?? Number.NaN)

/** Level by level, as many as wanted. */
function below(project: Project, levels: number): readonly Project[] {
  const found: Project[] = []
  let level: readonly Project[] = [project]
  for (let depth = 0; depth < levels && level.length > 0; depth++) {
    level = level.flatMap(({ projects }) => projects)
    found.push(...level)
  }
  return found
}

const dates = (id: number): string => {
  const date = new Date(modifiedOf(id)).toISOString()
  return `"creationDate":"${date}","modificationDate":"${date}"`
}

const projectItem = ({ id, name, parent }: Project): string =>
  `{"id":${id},"name":"${name === '' ? user : name}","description":"made for measuring",${
    parent === undefined ? '' : `"parentId":${parent.id},`
  }"owner":"${user}","state":"created",${dates(id)}}`

const calculationText = ({ id, name, project }: Calculation, more: string): string =>
  `{"id":${id},"name":"${name}","type":"ORC","description":"B3LYP, made for measuring","parentId":${project.id},${dates(id)}${more}}`

const reportTypes =
  '[{"id":1,"name":"Supporting information","status":"active"},{"id":2,"name":"Reaction energy profile","status":"active"}]'

/** Report 42 holds the first calculations of the tree; there is no other. */
function reportOf(tree: Tree, paths: Paths, id: number): string | undefined {
  const holder = tree.projects.find(({ count }) => count > 0)
  if (id !== 42 || holder === undefined) return undefined
  const rows = Array.from({ length: Math.min(5, holder.count) }, (_, index) => ({
    calcId: paths.calculationAt(holder, index).id,
    calcOrder: index + 1,
    title: `Row ${index + 1}`,
  }))
  return JSON.stringify({
    id,
    title: 'A report',
    name: 'report',
    description: 'made for measuring',
    configuration: '',
    reportType: 1,
    calculations: rows,
  })
}
