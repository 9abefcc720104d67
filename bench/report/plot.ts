// docs/speed.svg: a few cold times of docs/performance.md as bars, written as SVG by hand, light and dark.

/** The table of the page, and its works and contenders that are drawn. */
const distance = 'Round trip 30 ms'
const works = [
  { name: '`ls -lR`', phase: 0, says: 'ls -lR of 500 calculations, 3,000 files' },
  { name: '`cp -r`, 4 projects of 20', phase: 0, says: 'cp -r of a fifth of them, for the first time' },
  { name: '`cp -r`, 4 projects of 20', phase: 2, says: 'the same after a new mount' },
  { name: 'a file manager opens one folder', phase: 0, says: 'a file manager opens a folder' },
] as const
const contenders = ['calcfs', 'davfs2', 'rclone webdav full', 'rclone http full', 'sshfs']

const [left, top, barHeight, groupHeight, plotWidth, width] = [130, 40, 11, 84, 560, 760]

interface Bar {
  readonly contender: string
  /** As the page has it: `3.87`, `> 19`. */
  readonly shown: string
  readonly seconds: number
}

/** The plot of what a page tells; a page of a run that left that distance out has none of it. */
export function speedPlot(page: string): string {
  const table = tableOf(page)
  const groups = works.map(({ name, phase, says }) => ({ says, bars: barsOf(table, name, phase) }))
  const most = Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ seconds }) => seconds)))
  const drawn = groups.map(({ says, bars }, at) => {
    const y = top + at * groupHeight
    const heading = `<text class="head" x="10" y="${y + 10}">${says}</text>`
    return [heading, ...bars.map((bar, place) => drawnBar(bar, y + 16 + place * barHeight, most))].join('\n')
  })
  return frame(top + groups.length * groupHeight, drawn)
}

/** Rows by their first cell, as cells by the name of their column. */
function tableOf(page: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const [, section] = page.split(`### ${distance}\n`)
  const lines = (section ?? '').split(/\n#/)[0]?.split('\n') ?? []
  const [head = [], , ...rows] = lines.filter(line => line.startsWith('|')).map(cellsOf)
  return new Map(
    rows.map(([name = '', ...cells]) => [name, new Map(cells.map((cell, at) => [head[at + 1] ?? '', cell]))]),
  )
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())

/** Cells are `cold / warm / after a remount`; one that has no number draws nothing. */
function barsOf(
  table: ReadonlyMap<string, ReadonlyMap<string, string>>,
  work: string,
  phase: number,
): readonly Bar[] {
  return contenders.flatMap(contender => {
    const shown = table.get(work)?.get(contender)?.split(' / ')[phase] ?? ''
    const seconds = Number(shown.replace('> ', ''))
    return shown === '' || Number.isNaN(seconds) ? [] : [{ contender, shown, seconds }]
  })
}

function drawnBar({ contender, shown, seconds }: Bar, y: number, most: number): string {
  const long = Math.max(2, (seconds / most) * plotWidth).toFixed(1)
  const kind = contender === 'calcfs' ? 'ours' : shown.startsWith('>') ? 'open' : 'other'
  const text = `${shown.replace('>', '&gt;')} s`
  return [
    `<text x="${left - 8}" y="${y + 9}" text-anchor="end">${contender}</text>`,
    `<rect class="${kind}" x="${left}" y="${y}" width="${long}" height="${barHeight - 2}"/>`,
    `<text x="${left + Number(long) + 5}" y="${y + 9}">${text}</text>`,
  ].join('')
}

const style = `text{fill:#24292f}.head,.title{font-weight:bold}.ours{fill:#1f6feb}.other,.open{fill:#8b949e}.open{fill-opacity:.5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#58a6ff}.other,.open{fill:#6e7681}}`

const frame = (height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="10"><title>Seconds, each mount over the same tree</title><style>${style}</style>
<text class="title" x="10" y="18" font-size="12">Seconds at a round trip of 30 ms; shorter is better (&gt;: ended after so long)</text>
${parts.join('\n')}
</svg>
`
