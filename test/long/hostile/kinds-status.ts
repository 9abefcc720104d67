// Odd status lines, answers before the answer, refusals and redirects.
import { type Answer, withHeader } from './answer.js'
import { type Kind, line, statusLine } from './kind.js'

const lines: Readonly<Record<string, string>> = {
  'HTTP/1.0': 'HTTP/1.0 200 OK',
  'no reason': 'HTTP/1.1 200',
  'a reason of 64 kB': `HTTP/1.1 200 ${'O'.repeat(65_536)}`,
  'status 000': 'HTTP/1.1 000 Nothing',
  'status 999': 'HTTP/1.1 999 Denied',
  'a status in words': 'HTTP/1.1 two OK',
}

/** Refusals with a body that is right, as if nothing had been refused. */
const statuses = [
  201, 202, 203, 205, 206, 207, 208, 226, 300, 304, 305, 306, 400, 401, 402, 403, 404, 405, 406, 407, 408,
  409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499,
  500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 520, 530, 598,
]

const interim: Readonly<Record<string, string>> = {
  '100 first': 'HTTP/1.1 100 Continue\r\n\r\n',
  '103 first': 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n',
  '100 five hundred times': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500),
  '101 first': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: odd\r\nConnection: upgrade\r\n\r\n',
  'a greeting of another protocol first': 'SSH-2.0-OpenSSH_9.2\r\n',
}

const moved = (status: number, where: (elsewhere: string) => string, named: string): Kind => ({
  name: `${status} to ${named}`,
  change: (answer, { elsewhere }) => withHeader({ ...answer, status }, 'Location', where(elsewhere)),
})

const status = (code: number): Kind => ({
  name: `status ${code}`,
  change: (answer): Answer => ({ ...answer, status: code, reason: 'Odd' }),
})

export const statusKinds: readonly Kind[] = [
  ...Object.entries(lines).map(([name, text]) => ({ name, ...statusLine(text) })),
  ...statuses.map(status),
  ...Object.entries(interim).map(
    ([name, text]): Kind => ({ name, wire: wire => ({ ...wire, interim: Buffer.from(text, 'latin1') }) }),
  ),
  {
    name: '204 with a body',
    ...statusLine('HTTP/1.1 204 No Content'),
  },
  { name: 'HTTP/0.9, no head at all', wire: wire => ({ ...wire, head: Buffer.alloc(0), after: 'fin' }) },
  ...[301, 302, 303, 307, 308].flatMap(code => [
    moved(code, elsewhere => `${elsewhere}/create/rest/`, 'another origin'),
    moved(code, elsewhere => `//${new URL(elsewhere).host}/x`, 'another origin without a scheme'),
  ]),
  moved(302, () => 'file:///etc/passwd', 'a file'),
  moved(302, () => '', 'nowhere'),
  moved(302, () => 'http://[::bad', 'an address that is none'),
  moved(302, elsewhere => elsewhere.replace('http:', 'https:'), 'https elsewhere'),
  moved(302, elsewhere => `http://user:word@${new URL(elsewhere).host}/`, 'another origin with a password'),
  {
    name: '302 to itself',
    change: (answer, { asked }) =>
      withHeader({ ...answer, status: 302 }, 'Location', `/create/rest${asked.path}?${asked.query}`),
  },
  {
    name: '302 in a circle that grows',
    change: (answer, { asked }) =>
      withHeader({ ...answer, status: 302 }, 'Location', `/create/rest${asked.path}?${asked.query}&a=b`),
  },
  { name: '302 without Location', change: answer => ({ ...answer, status: 302 }) },
  ...['0', '1', '3600', '-1', 'soon', '99999999999999999999', 'Wed, 21 Oct 2099 07:28:00 GMT'].map(
    (after): Kind => ({
      name: `503 with Retry-After: ${after}`,
      change: answer => withHeader({ ...answer, status: 503, reason: 'Busy' }, 'Retry-After', after),
    }),
  ),
  {
    name: '401 with a challenge elsewhere',
    change: (answer, { elsewhere }) =>
      withHeader(
        { ...answer, status: 401 },
        'WWW-Authenticate',
        `Bearer realm="${elsewhere}", authorization_uri="${elsewhere}"`,
      ),
  },
  ...['Refresh', 'Alt-Svc', 'Link', 'Content-Location', 'Location', 'Proxy', 'X-Accel-Redirect'].map(
    (name): Kind => ({
      name: `200 with ${name} elsewhere`,
      wire: (wire, { elsewhere }) => {
        const values: Readonly<Record<string, string>> = {
          Refresh: `0; url=${elsewhere}`,
          'Alt-Svc': `h1="${new URL(elsewhere).host}"`,
          Link: `<${elsewhere}>; rel=preload`,
        }
        return line(`${name}: ${values[name] ?? elsewhere}`).wire(wire)
      },
    }),
  ),
]
