import type { Results } from './report.ts'

interface Bar {
  readonly name: string
  readonly value: number
  readonly isOurs: boolean
}

export const plotCommands = ({ commands }: Results): string =>
  plot('Commands per second, and requests per second of a bare server that does one write', [
    { name: 'commands accepted', value: commands.commands.perSecond, isOurs: true },
    { name: 'bare server, one write', value: commands.baseline.perSecond, isOurs: false },
  ])

export const plotDeliveries = ({ deliveries }: Results): string =>
  plot('Deliveries per second, beside BullMQ with axios and a bare loop', [
    { name: 'Switchhook', value: deliveries.ours.perSecond, isOurs: true },
    { name: 'BullMQ with axios', value: deliveries.bullmq.perSecond, isOurs: false },
    { name: 'bare loop', value: deliveries.bare.perSecond, isOurs: false },
  ])

/** Bars with their numbers. */
function plot(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value))
  const height = 60 + bars.length * 44
  const rows = bars.map(({ name, value, isOurs }, at) => {
    const y = 50 + at * 44
    const width = Math.round((value / most) * 420)
    return `  <text x="190" y="${y + 19}" text-anchor="end" fill="#0f172a">${name}</text>
  <rect x="200" y="${y}" width="${width}" height="28" rx="4" fill="${isOurs ? '#3b6fd4' : '#94a3b8'}"/>
  <text x="${210 + width}" y="${y + 19}" fill="#475569">${value}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${height}" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14" role="img" aria-labelledby="title">
  <title id="title">${title}</title>
  <rect width="720" height="${height}" fill="#ffffff"/>
  <text x="200" y="30" font-weight="600" fill="#0f172a">per second, more is better</text>
${rows.join('\n')}
</svg>
`
}
