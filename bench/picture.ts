import type { Figures } from './measure.ts'

const width = 820
const label = 390
const bar = 22
const gap = 8
/** Keeps a number readable where the line is behind it. */
const halo = 'paint-order="stroke" stroke="#fff" stroke-width="5"'

/** The ratios as bars; a reader sees at once what costs how many bare requests, and what costs less than one. */
export function picture(figures: readonly Pick<Figures, 'name' | 'ratio'>[], circumstances: string): string {
  const ratios = figures.map(({ ratio }) => ratio)
  const least = Math.min(...ratios, 1) / 1.4
  const most = Math.max(...ratios, 1) * 1.4
  const scale = (ratio: number) => (Math.log(ratio / least) / Math.log(most / least)) * (width - label - 70)
  const rows = figures.map(({ name, ratio }, index) => {
    const y = 62 + index * (bar + gap)
    const length = scale(ratio)
    const colour = /^(peer|bare)/.test(name) ? '#9aa4b2' : '#2563eb'
    return `<text x="${label - 10}" y="${y + 15}" text-anchor="end">${escaped(name)}</text>
<rect x="${label}" y="${y}" width="${length.toFixed(0)}" height="${bar}" rx="3" fill="${colour}"/>
<text x="${(label + length + 8).toFixed(0)}" y="${y + 15}" ${halo}>${ratio.toFixed(2)}×</text>`
  })
  const height = 78 + figures.length * (bar + gap)
  const bare = (label + scale(1)).toFixed(0)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">
<title>Server CPU per request, as a multiple of that of a bare node:http server</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="14" y="24" font-size="15" font-weight="600">Server CPU per request, times a bare node:http server (log scale)</text>
<text x="14" y="44" fill="#525b69">${escaped(circumstances)}</text>
<line x1="${bare}" y1="54" x2="${bare}" y2="${height - 12}" stroke="#dc2626" stroke-dasharray="3 3"/>
${rows.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
