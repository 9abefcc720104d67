// Odd listings and records: each has something good in it that must be shown, whatever stands next to it.

/** What one number of the service answers, as texts of JSON. */
export interface Texts {
  readonly projects: string
  readonly calculations: string
  readonly shares: string
  /** Of the calculation that is the scenario's: its files. */
  readonly files: string
  /** Of the report that is the scenario's. */
  readonly report: string
}

export interface Scenario {
  readonly name: string
  /** Names that the folder must show, and whose records must be their own. */
  readonly good: readonly Good[]
  readonly texts: Texts
  /** The whole listing may be refused: it is no JSON, or longer than what is taken. */
  readonly mayRefuse: boolean
  /** Nothing of it is odd enough to be reported. */
  readonly isHarmless: boolean
  /** Takes long, and is played once in a while. */
  readonly isHuge: boolean
}

export interface Good {
  readonly id: string
  readonly name: string
  readonly kind: 'project' | 'calculation'
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Values of a field that make sense nowhere, or in one field only. */
const values: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  zero: '0',
  'minus one': '-1',
  'a fraction': '7.5',
  '1e400': '1e400',
  '40 digits': '7'.repeat(40),
  '2^63': '9223372036854775808',
  '2^53 + 1': '9007199254740993',
  'an empty text': '""',
  blanks: '"  "',
  letters: '"x"',
  'digits with zeros': '"007"',
  'a list': '[]',
  'a list of one': '[1]',
  'an object': '{}',
  'an object with an id': '{"id":5}',
  __proto__: '"__proto__"',
  'a NUL': '"\\u0000"',
  'half a pair': '"\\ud800"',
  'a path': '"../../etc/passwd"',
  'a text of 70,000': `"${'t'.repeat(70_000)}"`,
  'nested 1,000 deep': deep(1_000),
  'nested 100,000 deep': deep(100_000),
  'no JSON': 'NaN',
  'a date of no calendar': '"0000-00-00T99:99:99Z"',
  'a date far away': '"+275760-09-13T00:00:00Z"',
  'a huge number': '99999999999999999',
}
const fields = [
  'id',
  'name',
  'parentId',
  'creationDate',
  'modificationDate',
  'state',
  'description',
  'x-lab',
  '__proto__',
  'handle',
]

const item = (id: string, name: string, more = ''): string =>
  `{"id":${id},"name":${JSON.stringify(name)}${more}}`

/** @param of the number of the folder; its children's numbers begin with it */
export function scenarioTable(): readonly ((of: string) => Scenario)[] {
  return [
    ...Object.entries(values).flatMap(([what, value]) => fields.map(field => oddField(field, what, value))),
    ...Object.entries(lists).map(([name, make]) => wholeList(name, make)),
    ...Object.entries(files).map(([name, text]) => fileList(name, text)),
    ...Object.entries(shares).map(([name, text]) => shareList(name, text)),
    ...Object.entries(records).map(([name, make]) => record(name, make)),
  ]
}

function goodOf(of: string): Good[] {
  return [1, 2, 3, 4, 5, 6].map(at => ({
    id: `${of}0${at}`,
    name: `good ${of} ${at}`,
    kind: at < 4 ? 'project' : 'calculation',
  }))
}

function plain(of: string, name: string): Scenario {
  const good = goodOf(of)
  const listed = (kind: Good['kind']): string =>
    `[${good
      .filter(one => one.kind === kind)
      .map(one => item(one.id, one.name))
      .join(',')}]`
  return {
    name,
    good,
    mayRefuse: false,
    isHarmless: false,
    isHuge: false,
    texts: {
      projects: listed('project'),
      calculations: listed('calculation'),
      shares: '[{"shareId":900,"permission":"READ","username":"guest"}]',
      files: '["good.txt"]',
      report: `{"id":${of},"name":"good","title":"good"}`,
    },
  }
}

/** Puts an item into the middle of both lists. */
function withItem(scenario: Scenario, odd: string): Scenario {
  const into = (list: string): string => list.replace('},{', `},${odd},{`)
  const { projects, calculations } = scenario.texts
  return {
    ...scenario,
    texts: { ...scenario.texts, projects: into(projects), calculations: into(calculations) },
  }
}

const oddField =
  (field: string, what: string, value: string) =>
  (of: string): Scenario => {
    const given: Record<string, string> = { id: `${of}77`, name: `"odd ${of}"` }
    given[field] = value
    const odd = `{${Object.entries({ ...given, [field]: value })
      .map(([name, text]) => `"${name}":${text}`)
      .join(',')}${field === '__proto__' ? `,"__proto__":${value}` : ''}}`
    const isBroken = what === 'no JSON' || what === 'nested 100,000 deep'
    return {
      ...withItem(plain(of, `an item whose ${field} is ${what}`), odd),
      mayRefuse: isBroken,
      isHarmless: !(field === 'id' || field === 'name') && !isBroken,
    }
  }

const many = (of: string, count: number, name: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(`${of}${String(at).padStart(7, '0')}`, name(at))).join(',')

/** What stands next to the good ones, or around them. */
const lists: Readonly<Record<string, (of: string) => Partial<Scenario> & { readonly beside?: string }>> = {
  'the same id twice': of => ({
    beside: `${item(`${of}01`, 'another')},${item(`${of}04`, 'another')}`,
    isHarmless: true,
  }),
  'one id for a project and a calculation': of => ({ beside: item(`${of}99`, 'both'), isHarmless: true }),
  '1,000 of one name': of => ({ beside: many(of, 1_000, () => 'same'), isHarmless: true }),
  '1,000 with the name of a good one': of => ({ beside: many(of, 1_000, () => 'x'), isHarmless: true }),
  '1,000 that are none': () => ({
    beside: Array.from({ length: 1_000 }, (_, at) => `{"no":${at}}`).join(','),
  }),
  'names of 5,000': of => ({ beside: many(of, 300, at => `${'n'.repeat(5_000)}${at}`), isHarmless: true }),
  'null among them': () => ({ beside: 'null,null' }),
  'numbers among them': () => ({ beside: '1,2,3' }),
  'texts among them': () => ({ beside: '"a","b"' }),
  'lists among them': () => ({ beside: '[],[[]],[{"id":5}]' }),
  'an empty place': () => ({ beside: '', mayRefuse: true }),
  'a colon': () => ({ beside: '{"id":}', mayRefuse: true }),
  'other letters': of => ({ beside: `{"ID":${of}88,"Name":"x"}` }),
  'a title for a name': of => ({ beside: `{"id":${of}88,"title":"titled"}`, isHarmless: true }),
  'an item of 5 MB': of => ({
    beside: item(`${of}88`, 'big', `,"more":"${'m'.repeat(5 << 20)}"`),
    isHarmless: true,
  }),
  'an item of 100,000 fields': of => ({
    beside: item(`${of}88`, 'wide', Array.from({ length: 100_000 }, (_, at) => `,"f${at}":${at}`).join('')),
    isHarmless: true,
  }),
  'names like ours': of => ({
    beside: ['.project.json', '.index.tsv', '.shares', '.', '..', '', '/', '.calculation.json']
      .map((name, at) => item(`${of}8${at}`, name))
      .join(','),
    isHarmless: true,
  }),
  probes: of => ({
    beside: ['.git', '.hidden', '.Trash', 'desktop.ini', 'CVS']
      .map((name, at) => item(`${of}8${at}`, name))
      .join(','),
    isHarmless: true,
  }),
  '20,000 children': of => ({ beside: many(of, 20_000, at => `child ${at}`), isHarmless: true }),
  '100,000 children': of => ({
    beside: many(of, 100_000, at => `child ${at}`),
    isHarmless: true,
    isHuge: true,
  }),
  '1,000,000 children': of => ({
    beside: many(of, 1_000_000, at => `c${at}`),
    mayRefuse: true,
    isHarmless: true,
    isHuge: true,
  }),
}

const wholeList =
  (name: string, make: (typeof lists)[string]) =>
  (of: string): Scenario => {
    const { beside = '', ...more } = make(of)
    return { ...withItem(plain(of, name), beside), ...more, name }
  }

const files: Readonly<Record<string, string>> = {
  nothing: 'null,"good.txt"',
  numbers: '7,"good.txt",1e400,-1',
  objects: '{"name":"x"},"good.txt",{},{"fileName":"y"}',
  lists: '[],"good.txt",[["z"]]',
  'empty names': '"","good.txt"," "',
  'names that are paths': '"../../etc/passwd","good.txt","a/b","/","..","."',
  'control characters': '"a\\u0000b","good.txt","a\\nb","\\u001b[31m"',
  'half a pair': '"\\ud800","good.txt"',
  'the same twice': '"good.txt","good.txt","good.txt"',
  'a name of 70,000': `"${'f'.repeat(70_000)}","good.txt"`,
  '20,000 files': `${Array.from({ length: 20_000 }, (_, at) => `"f${at}"`).join(',')},"good.txt"`,
  'names like ours': '".calculation.json","good.txt",".index.tsv"',
  probes: '".git","good.txt","Thumbs.db"',
}

const fileList =
  (name: string, text: string) =>
  (of: string): Scenario => ({
    ...plain(of, `files: ${name}`),
    isHarmless: true,
    texts: { ...plain(of, '').texts, files: `[${text}]` },
  })

const shares: Readonly<Record<string, string>> = {
  nothing: 'null',
  'an unknown permission': '{"shareId":5,"permission":"ADMIN","username":"x"}',
  'no id': '{"permission":"READ","username":"x"}',
  'a text for an id': '{"shareId":"x","permission":"READ"}',
  'a user that is an object': '{"shareId":6,"permission":"READ","user":{"id":1,"name":{"a":1}}}',
  'a user that is a number': '{"shareId":7,"permission":"READ","username":7}',
  'nested 1,000 deep': `{"shareId":8,"permission":"READ","x":${deep(1_000)}}`,
  'the same id twice': '{"shareId":900,"permission":"WRITE","username":"other"}',
}

const shareList =
  (name: string, text: string) =>
  (of: string): Scenario => {
    const scenario = plain(of, `shares: ${name}`)
    return {
      ...scenario,
      isHarmless: true,
      texts: { ...scenario.texts, shares: scenario.texts.shares.replace(']', `,${text}]`) },
    }
  }

/** Records may be refused; what they must not do is hang, or take the daemon with them. */
const records: Readonly<Record<string, (of: string) => string>> = {
  '15 MB': of => item(of, 'r', `,"more":"${'m'.repeat(15 << 20)}"`),
  '40 MB': of => item(of, 'r', `,"more":"${'m'.repeat(40 << 20)}"`),
  '100,000 fields': of =>
    item(of, 'r', Array.from({ length: 100_000 }, (_, at) => `,"f${at}":${at}`).join('')),
  'nested 1,000 deep': of => item(of, 'r', `,"more":${deep(1_000)}`),
  'nested 1,000,000 deep': of => item(of, 'r', `,"more":${deep(1_000_000)}`),
  'a list of 100,000 rows': of =>
    item(
      of,
      'r',
      `,"calculations":[${Array.from({ length: 100_000 }, (_, at) => `{"calcId":${at},"calcOrder":${at}}`).join(',')}]`,
    ),
  'a list with itself': of => item(of, 'r', `,"calculations":[{"calcId":${of},"calcOrder":1}]`),
  'odd rows': of =>
    item(of, 'r', ',"calculations":[null,7,"x",{"calcId":null},{"calcId":"7","calcOrder":"z"},[]]'),
  'a configuration that is no XML': of => item(of, 'r', ',"configuration":"<a><b></a>"'),
  'a configuration with entities': of =>
    item(
      of,
      'r',
      ',"configuration":"<!DOCTYPE a [<!ENTITY x \\"xxxxxxxxxx\\"><!ENTITY y \\"&x;&x;&x;\\">]><a>&y;</a>"',
    ),
  'a title of 1 MB': of => item(of, 'r', `,"title":"${'t'.repeat(1 << 20)}"`),
}

const record =
  (name: string, make: (of: string) => string) =>
  (of: string): Scenario => ({
    ...plain(of, `a record: ${name}`),
    isHarmless: true,
    texts: { ...plain(of, '').texts, report: make(of) },
  })
