import type { CommandsFigure } from '../figures/commands.ts'
import type { DeliveriesFigure } from '../figures/deliveries.ts'
import type { LatencyFigure } from '../figures/latency.ts'
import type { LogFigure } from '../figures/log.ts'

export const deliveriesSection = ({
  deliveries,
  subscriptions,
  ours,
  bullmq,
  bare,
  toBullmq,
  toBare,
}: DeliveriesFigure): string =>
  `## Deliveries per second

${deliveries} deliveries: events that each become one for ${subscriptions} subscriptions. From the first event that is published to the last POST that is
answered, with everything on: fan-out, confirmed publishes, breaker, lanes, ledger, record of each attempt, one log line per attempt. Two workers. Beside it, the
same number of POSTs of the same size to the same endpoint, as jobs of BullMQ with axios, and by a bare loop that consumes a quorum queue and POSTs
with undici (no schedule, no ledger, no record). Medians over ${ours.runs.length} runs, the three in turn.

![Deliveries per second beside BullMQ and a bare loop](images/benchmark-deliveries.svg)

|                       | per second | runs |
| --------------------- | ---------- | ---- |
| Switchhook            | ${ours.perSecond} | ${ours.runs.join(', ')} |
| BullMQ with axios     | ${bullmq.perSecond} | ${bullmq.runs.join(', ')} |
| bare loop             | ${bare.perSecond} | ${bare.runs.join(', ')} |

Ratios: ${toBullmq} of BullMQ with axios, ${toBare} of the bare loop.

Processor time for each delivery, in microseconds, all rounds that count together; what publishes and what receives is not in it.
[performance.md](performance.md) says what it is spent on.

| | |
| --- | --- |
| Switchhook | ${costsOf(ours)} |
| BullMQ with axios | ${costsOf(bullmq)} |
| bare loop | ${costsOf(bare)} |
`

const costsOf = ({ costUs }: DeliveriesFigure['ours']): string => {
  const sum = Object.values(costUs).reduce((total, us) => total + us, 0)
  const parts = Object.entries(costUs).map(([part, us]) => `${part} ${us}`)
  return `${sum} µs: ${parts.join(', ')}`
}

export function latencySection({ perSecond, runMs, ours, bare }: LatencyFigure): string {
  return `## From an event to its first POST

${perSecond} events a second for ${runMs / 1_000} s, each for one subscription, sent whether or not the last one has arrived. From just before the event is
published until the whole POST is with the endpoint, by one clock. The bare loop gets the same rate. Medians over ${ours.runs.length} runs, the two in turn.

![From an event to its first POST beside a bare loop](images/benchmark-latency.svg)

|            | p50, ms | p99, ms | runs, p50 / p99 |
| ---------- | ------- | ------- | --------------- |
${latencyRow('Switchhook', ours)}
${latencyRow('bare loop', bare)}
`
}

const latencyRow = (name: string, { p50Ms, p99Ms, runs }: LatencyFigure['ours']): string =>
  `| ${name} | ${p50Ms} | ${p99Ms} | ${runs.map((run) => `${run.p50Ms} / ${run.p99Ms}`).join(', ')} |`

export function logSection({ deliveries, fanOuts }: LogFigure): string {
  const rows = fanOuts.flatMap(({ subscriptions, on, off }) =>
    Object.entries({ on, off }).map(
      ([name, { perSecond, costUs, runs }]) =>
        `| ${subscriptions} | ${name} | ${perSecond} | ${costUs['fanout'] ?? ''} | ${costUs['redis'] ?? ''} | ${runs.join(', ')} |`,
    ),
  )
  const ratios = fanOuts.map(({ subscriptions, ratio }) => `${ratio} with ${subscriptions} per event`)
  return `## The delivery log

${deliveries} deliveries, with the delivery log as it is by default (lists per subscription and tenant, a record per event) and without it
(\`DELIVERY_LOG_SIZE=0\`). Fan-out is started anew for each, in turn; medians over ${fanOuts[0]?.on.runs.length ?? 0} runs each. Processor time is per delivery.

| deliveries per event | log | deliveries per second | fan-out, µs | Redis, µs | runs |
| -------------------- | --- | --------------------- | ----------- | --------- | ---- |
${rows.join('\n')}

With the log to without it: ${ratios.join(', ')}.
`
}

export function commandsSection({
  agents,
  clients,
  commands,
  baseline,
  ratio,
  events,
  redisCalls,
}: CommandsFigure): string {
  const costs = Object.entries(redisCalls).map(([name, { reads, writes }]) => `| ${name} | ${reads} | ${writes} |`)
  return `## Commands accepted

${agents} agents on the simulator, one api replica, ${clients} clients without think time. In turn, six commands per agent: a call that comes in is
answered, held, resumed and hung up, then the agent dials and hangs up. The baseline is a bare Express server that parses the same JSON and does one
\`SET\` on the same Redis: no token, no rules, no state, no events, no log. Medians over ${commands.runs.length} runs, the two sides in turn.

![Commands per second beside a bare server](images/benchmark-commands.svg)

|                          | per second | p50, ms | p99, ms | runs |
| ------------------------ | ---------- | ------- | ------- | ---- |
| commands accepted        | ${commands.perSecond} | ${commands.p50Ms} | ${commands.p99Ms} | ${commands.runs.join(', ')} |
| bare server, one write   | ${baseline.perSecond} | ${baseline.p50Ms} | ${baseline.p99Ms} | ${baseline.runs.join(', ')} |

A command costs ${Math.round(1 / ratio)} bare requests (ratio ${ratio}).

### Events

Every event was caught in a queue of its own: ${events.events} events of ${events.commands} commands and their calls
(${(events.events / Math.max(1, events.commands)).toFixed(2)} per command), ${events.legs} legs. Missing: ${events.missing}. Published twice: ${events.doubled}. Legs without an
end: ${events.unended}.

### What a command costs in Redis

One command at a time on a stack that does nothing else; reads of records, and scripts that write. Each counts one round trip. The
scripts include the one that counts the client's requests, and those that fetch and clear the outbox, which a busy stack shares among many commands.

| command | reads | scripts |
| ------- | ----- | ------- |
${costs.join('\n')}
`
}
