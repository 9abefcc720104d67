// The plot of a run: grouped bars on a logarithmic axis, written as SVG by hand.
import { type Cell, secondsOf } from '../run/cells.js'

const colours = [
  '#1f6feb',
  '#8b949e',
  '#57606a',
  '#d4a72c',
  '#bc4c00',
  '#8250df',
  '#1a7f37',
  '#cf222e',
  '#bf3989',
]
const [left, top, barHeight, gap, plotWidth] = [190, 56, 9, 14, 560]

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('`', '')

/** Cold times of these workloads at one distance, on one tree each; a bar for each contender that was right. */
export function plot(
  cells: readonly Cell[],
  roundTrip: number,
  works: readonly { readonly name: string; readonly title: string }[],
): string {
  const here = cells.filter(
    cell => cell.roundTrip === roundTrip && works.some(({ name }) => name === cell.work),
  )
  const contenders = [...new Set(here.map(({ contender }) => contender))].filter(
    name => name !== 'local disk',
  )
  const times = here.flatMap(cell => secondsOf(cell, 'cold') ?? [])
  if (times.length === 0) return emptyPlot
  const low = 10 ** Math.floor(Math.log10(Math.max(Math.min(...times), 0.001)))
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...times) / low)))
  const x = (seconds: number): number =>
    left + (Math.log10(Math.max(seconds, low) / low) / decades) * plotWidth
  let y = top
  const groups = works.map(({ name, title }) => {
    const bars = contenders.flatMap((contender, at) => {
      const cell = here.find(one => one.work === name && one.contender === contender)
      const seconds = secondsOf(cell, 'cold')
      if (seconds === undefined) return []
      const bar = rectangle(
        x(seconds),
        y,
        colours[at % colours.length] ?? '#000',
        `${contender}: ${seconds.toPrecision(3)} s`,
      )
      y += barHeight
      return [bar]
    })
    if (bars.length === 0) return ''
    const label = `<text x="${left - 8}" y="${y - (bars.length * barHeight) / 2 + 4}" text-anchor="end">${escaped(title)}</text>`
    y += gap
    return label + bars.join('')
  })
  const lines = Array.from({ length: decades + 1 }, (_, decade) =>
    gridLine(x(low * 10 ** decade), y, low * 10 ** decade),
  )
  const legend = contenders.map((name, at) => legendEntry(name, at))
  return frame(y + 20, [
    `<text x="10" y="16" font-weight="bold">Seconds, cold, round trip ${roundTrip} ms; shorter is better (logarithmic)</text>`,
    ...legend,
    ...lines,
    ...groups,
  ])
}

const frame = (height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 ${height}" width="800" height="${height}" font-family="sans-serif" font-size="11"><title>Seconds of each workload</title><rect width="800" height="${height}" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`

const emptyPlot = frame(40, ['<text x="10" y="20">Nothing was measured at this distance.</text>'])

function rectangle(to: number, y: number, colour: string, title: string): string {
  const width = Math.max(1, to - left).toFixed(1)
  return `<rect x="${left}" y="${y}" width="${width}" height="${barHeight - 1}" fill="${colour}"><title>${escaped(title)}</title></rect>`
}

function gridLine(x: number, bottom: number, seconds: number): string {
  const label = Number(seconds.toPrecision(1))
  return `<line x1="${x}" x2="${x}" y1="${top - 4}" y2="${bottom}" stroke="#ddd"/><text x="${x}" y="${bottom + 12}" text-anchor="middle">${label} s</text>`
}

function legendEntry(name: string, at: number): string {
  const [x, y] = [10 + (at % 5) * 157, 30 + Math.floor(at / 5) * 15]
  return `<rect x="${x}" y="${y - 8}" width="9" height="9" fill="${colours[at % colours.length]}"/><text x="${x + 13}" y="${y}">${escaped(name)}</text>`
}
