import type { CommandsFigure } from './commands-figure.ts'
import type { DeliveriesFigure } from './deliveries-figure.ts'
import type { Machine } from './machine.ts'

export interface Results {
  /** ISO 8601. */
  readonly at: string
  readonly machine: Machine
  readonly rungs: Readonly<Record<string, string>>
  readonly commands: CommandsFigure
  readonly deliveries: DeliveriesFigure
}

/** `docs/benchmarks.md`: what was measured, and what it means. */
export function renderReport({ at, machine, rungs, commands, deliveries }: Results): string {
  const { events, redisCalls } = commands
  const costs = Object.entries(redisCalls)
    .map(([name, { reads, writes }]) => `| ${name} | ${reads} | ${writes} |`)
    .join('\n')
  return `# Benchmarks

Written by \`make bench\`; the numbers are those of one machine on one day, the ratios travel further.
${at.slice(0, 10)}: ${machine.cores} cores (${machine.processor}) that also run RabbitMQ (${rungs['rabbitmq']}), Redis (${rungs['redis']}, append-only file,
\`appendfsync always\`), the clients and the baseline; ${machine.memoryGib} GiB; ${machine.system}; Node ${machine.node}.

## Deliveries per second

${deliveries.deliveries} deliveries: events that each become one for ${deliveries.subscriptions} subscriptions. From the first event that is published to the last POST that is
answered, with everything on: fan-out, confirmed publishes, breaker, lanes, ledger, record of each attempt, one log line per attempt. Two workers. Beside it, the
same number of POSTs of the same size to the same endpoint, as jobs of BullMQ with axios, and by a bare loop that consumes a quorum queue and POSTs
with undici (no schedule, no ledger, no record). Medians over ${deliveries.ours.runs.length} runs, the three in turn.

![Deliveries per second beside BullMQ and a bare loop](images/benchmark-deliveries.svg)

|                       | per second | runs |
| --------------------- | ---------- | ---- |
| Switchhook            | ${deliveries.ours.perSecond} | ${deliveries.ours.runs.join(', ')} |
| BullMQ with axios     | ${deliveries.bullmq.perSecond} | ${deliveries.bullmq.runs.join(', ')} |
| bare loop             | ${deliveries.bare.perSecond} | ${deliveries.bare.runs.join(', ')} |

Ratios: ${deliveries.toBullmq} of BullMQ with axios, ${deliveries.toBare} of the bare loop.

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
