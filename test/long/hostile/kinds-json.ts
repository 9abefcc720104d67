// Odd JSON: what a record, a listing or a token may look like although HTTP is in order.
import type { Answer } from './answer.js'
import type { Kind } from './kind.js'

/** Another text in place of the body's. */
const text = (name: string, change: (text: string) => string | Buffer, lies?: true): Kind => ({
  name: `JSON: ${name}`,
  only: 'json',
  ...(lies === undefined ? {} : { lies }),
  change: (answer): Answer => ({ ...answer, body: Buffer.from(change(answer.body.toString())) }),
})

/** Its first id is another value, as it stands in the text. ID-1: what holds no number cannot be compared with what was asked for. */
const id = (value: string): Kind =>
  text(
    `the id ${value.slice(0, 40)}`,
    body => body.replace(/"id":\s*\d+/, `"id":${value}`),
    /^(null|\{\}|"[^\d]*"|"7\/.*")$/.test(value) ? true : undefined,
  )
const name = (value: string): Kind =>
  text(`the name ${value.slice(0, 40)}`, body => body.replace(/"name":\s*"[^"]*"/, `"name":${value}`), true)

const other: Readonly<Record<string, string>> = {
  'an empty text': '',
  blanks: '   \r\n\t',
  null: 'null',
  true: 'true',
  'a number': '42',
  'a text': '"hello"',
  'an empty list': '[]',
  'an empty object': '{}',
  'a list of null': '[null]',
  'a list of lists': '[[[[]]]]',
  'a list of numbers': '[1,2,3]',
  NaN: 'NaN',
  undefined: 'undefined',
  'an object that is not closed': '{"id":1,"name":"x"',
  'a list that is not closed': '[{"id":1,"name":"x"}',
  'a text that is not closed': '{"id":1,"name":"x',
  'single quotes': "{'id':1,'name':'x'}",
  'names without quotes': '{id:1,name:"x"}',
  'an error object': '{"error":"no such thing","status":404}',
  'a wrapped list': '{"data":[],"total":0}',
  JSONP: 'callback({"id":1})',
  'a guard': ')]}\',\n{"id":1}',
  XML: '<?xml version="1.0"?><project><id>1</id></project>',
  YAML: 'id: 1\nname: x\n',
  'a thousand brackets': '['.repeat(1_000) + ']'.repeat(1_000),
  'a hundred thousand brackets': '['.repeat(100_000),
  'a hundred thousand objects in each other': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  'a megabyte of blanks': ' '.repeat(1 << 20),
  'NUL bytes': '\0\0\0\0',
}

export const jsonKinds: readonly Kind[] = [
  ...Object.entries(other).map(([what, body]) => text(what, () => body, true)),
  text('a BOM', body => `\uFEFF${body}`),
  text('UTF-16', body => Buffer.from(body, 'utf16le')),
  text('bytes that are no UTF-8', body =>
    Buffer.concat([
      Buffer.from(body.slice(0, -1)),
      Buffer.from([0xff, 0xfe, 0xc0, 0x80]),
      Buffer.from(body.slice(-1)),
    ]),
  ),
  text('a trailing comma', body => body.replace(/([}\]])$/, ',$1')),
  text('a comment', body => `/* odd */ ${body}`),
  text('a second text behind it', body => `${body}${body}`),
  text('junk behind it', body => `${body} junk`),
  text('blanks around it', body => ` \r\n\t${body}\n\n`),
  text('cut in half', body => body.slice(0, body.length >> 1)),
  text('all but its last sign', body => body.slice(0, -1)),
  text('NaN in it', body => body.replace('{', '{"odd":NaN,')),
  text('Infinity in it', body => body.replace('{', '{"odd":-Infinity,')),
  text('1e400 in it', body => body.replace('{', '{"odd":1e400,'), true),
  text('a number of 100,000 digits', body => body.replace('{', `{"odd":${'7'.repeat(100_000)},`), true),
  text('a lone surrogate', body => body.replace('{', '{"odd":"\\ud800",'), true),
  text('an escaped NUL', body => body.replace('{', '{"odd":"\\u0000",'), true),
  text('an escape that is none', body => body.replace('{', '{"odd":"\\x41",')),
  text('a raw line end in a text', body => body.replace('{', '{"odd":"a\nb",')),
  text(
    '__proto__',
    body =>
      body.replace('{', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},'),
    true,
  ),
  text('the same name twice', body => body.replace('{', '{"title":"one","title":"two",'), true),
  text('the id twice', body => body.replace('{', '{"id":987654321,'), true),
  text('the id a second time at the end', body => body.replace(/}(\]?)$/, ',"id":987654321}$1'), true),
  text('a name of 1 MB', body => body.replace('{', `{"${'n'.repeat(1 << 20)}":1,`), true),
  text(
    'a hundred thousand fields',
    body => body.replace('{', `{${Array.from({ length: 100_000 }, (_, at) => `"f${at}":${at},`).join('')}`),
    true,
  ),
  text(
    'a field nested 1,000 deep',
    body => body.replace('{', `{"odd":${'['.repeat(1_000)}${']'.repeat(1_000)},`),
    true,
  ),
  text('wrapped in a list', body => `[${body}]`, true),
  text('wrapped in an object', body => `{"data":${body}}`, true),
  text('as a text in JSON', body => JSON.stringify(body), true),
  text('true for false', body => body.replaceAll('false', 'TRUE')),
  ...[
    '"7"',
    '7.0',
    '-7',
    '0',
    'null',
    '""',
    '"x"',
    '[]',
    '[7]',
    '{}',
    '{"id":7}',
    '1e3',
    '1e400',
    'true',
    '00',
    '9'.repeat(40),
    '" 7"',
    '"7/../8"',
    '"__proto__"',
  ].map(id),
  // ID-1: a record without an id cannot be compared with what was asked for.
  text('no id', body => body.replace(/"id":\s*\d+,/, ''), true),
  ...[
    'null',
    '7',
    '""',
    '" "',
    '[]',
    '{}',
    'true',
    '"."',
    '".."',
    '"a/b"',
    '"\\u0000"',
    '"\\ud800"',
    '"\\u202e"',
    `"${'x'.repeat(70_000)}"`,
    '".project.json"',
    '"~p1"',
  ].map(name),
  text('no name', body => body.replace(/"name":\s*"[^"]*",?/, ''), true),
]
