import type { CommandsFigure } from './commands-figure.ts'
import type { Machine } from './machine.ts'

export interface Results {
  /** ISO 8601. */
  readonly at: string
  readonly machine: Machine
  readonly rungs: Readonly<Record<string, string>>
  readonly commands: CommandsFigure
}

/** `docs/benchmarks.md`: what was measured, and what it means. */
export function renderReport({ at, machine, rungs, commands }: Results): string {
  const { events, redisCalls } = commands
  const costs = Object.entries(redisCalls)
    .map(([name, { reads, writes }]) => `| ${name} | ${reads} | ${writes} |`)
    .join('\n')
  return `# Benchmarks

Written by \`make bench\`; the numbers are those of one machine on one day, the ratios travel further.
${at.slice(0, 10)}: ${machine.cores} cores (${machine.processor}) that also run RabbitMQ (${rungs['rabbitmq']}), Redis (${rungs['redis']}, append-only file,
\`appendfsync always\`), the clients and the baseline; ${machine.memoryGib} GiB; ${machine.system}; Node ${machine.node}.

## Commands accepted

${commands.agents} agents on the simulator, one api replica, ${commands.clients} clients without think time. In turn, six commands per agent: a call that comes in is
answered, held, resumed and hung up, then the agent dials and hangs up. The baseline is a bare Express server that parses the same JSON and does one
\`SET\` on the same Redis: no token, no rules, no state, no events. Medians over ${commands.commands.runs.length} runs, the two sides in turn.

![Commands per second beside a bare server](images/benchmark-commands.svg)

|                          | per second | p50, ms | p99, ms | runs |
| ------------------------ | ---------- | ------- | ------- | ---- |
| commands accepted        | ${commands.commands.perSecond} | ${commands.commands.p50Ms} | ${commands.commands.p99Ms} | ${commands.commands.runs.join(', ')} |
| bare server, one write   | ${commands.baseline.perSecond} | ${commands.baseline.p50Ms} | ${commands.baseline.p99Ms} | ${commands.baseline.runs.join(', ')} |

A command costs ${Math.round(1 / commands.ratio)} bare requests (ratio ${commands.ratio}).

## Events

Every event was caught in a queue of its own: ${events.events} events of ${events.commands} commands and their calls
(${(events.events / Math.max(1, events.commands)).toFixed(2)} per command), ${events.legs} legs. Missing: ${events.missing}. Published twice: ${events.doubled}. Legs without an
end: ${events.unended}.

## What a command costs in Redis

One command at a time on a stack that does nothing else; reads of records, and scripts that write. Each counts one round trip. The
scripts include those that fetch and clear the outbox, which a busy stack shares among many commands.

| command | reads | scripts |
| ------- | ----- | ------- |
${costs}
`
}

/** Two bars, with their numbers. */
export function renderPlot({ commands }: Results): string {
  const rows = [
    { name: 'commands accepted', value: commands.commands.perSecond, colour: '#3b6fd4' },
    { name: 'bare server, one write', value: commands.baseline.perSecond, colour: '#94a3b8' },
  ]
  const most = Math.max(...rows.map(({ value }) => value))
  const bars = rows
    .map(({ name, value, colour }, at) => {
      const y = 50 + at * 44
      const width = Math.round((value / most) * 420)
      return `  <text x="190" y="${y + 19}" text-anchor="end" fill="#0f172a">${name}</text>
  <rect x="200" y="${y}" width="${width}" height="28" rx="4" fill="${colour}"/>
  <text x="${210 + width}" y="${y + 19}" fill="#475569">${value}</text>`
    })
    .join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 150" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14" role="img" aria-labelledby="title">
  <title id="title">Commands per second, and requests per second of a bare server that does one write</title>
  <rect width="720" height="150" fill="#ffffff"/>
  <text x="200" y="30" font-weight="600" fill="#0f172a">per second, more is better</text>
${bars}
</svg>
`
}
