import type { CommandsFigure } from '../figures/commands.ts'
import {
  type DeliveriesFigure,
  ratioTo,
  SIDES,
  type SideName,
  WARM_UP_DELIVERIES,
  WARM_UP_ROUNDS,
  type Workload,
} from '../figures/deliveries.ts'
import type { LatencyFigure } from '../figures/latency.ts'
import { type AudienceName, type ListenersFigure, slowdownOf } from '../figures/listeners.ts'
import type { LogFigure } from '../figures/log.ts'
import type { PlatformsFigure } from '../figures/platforms.ts'
import type { CostUs } from '../measure/processor-cost.ts'

const NAMES: Readonly<Record<SideName, string>> = {
  switchhook: 'Switchhook',
  bullmq: 'BullMQ with axios',
  equal: 'BullMQ, equal work',
  durable: 'durable bare loop',
  bare: 'bare loop',
}

export const deliveriesSection = ({ runMs, workloads }: DeliveriesFigure): string => `## Deliveries per second

From the first published event to the last answered POST, in runs of about ${seconds(runMs)} on every side; medians over
${workloads['one to one'].sides.switchhook.runs.length} runs. A different side starts each run. \`one to one\`: ${workloads['one to one'].subscriptions} tenants with one subscription each; an event
becomes one delivery. \`one subscription\`: one tenant with one subscription. \`twenty to one\`: one tenant with 20 subscriptions;
an event becomes 20 deliveries. All sides POST a body of the same size to the same endpoint.

- **Switchhook** as shipped: one fan-out process and two workers, with confirmed publishes, isolation, circuit breaker, signature, ledger, record and log
  line of each attempt.
- **BullMQ with axios**: as a team would first write it. One process, a job per delivery, POST with axios. No fan-out, no
  signature, no record.
- **BullMQ, equal work**: two processes that fan out with \`addBulk\`, sign, POST with axios over undici, allow eight attempts, write a
  log line and keep the result for an hour.
- **Durable bare loop**: the same hops and writes as Switchhook and nothing else. Two confirmed publishes to quorum queues, one fsynced
  record in Redis, POST with undici, acknowledgement. This is the limit of Switchhook's design.
- **Bare loop**: one process consumes a quorum queue, POSTs with undici and acknowledges. Nothing else.

How comparable the sides are:

- The same: machine, RabbitMQ, Redis (which syncs each write to disk), body, endpoint, and 200 deliveries in flight.
- Each side first makes ${WARM_UP_ROUNDS * WARM_UP_DELIVERIES} deliveries that do not count, then as many as it makes in the time of a run. So slow sides are not
  measured for longer, and code is compiled on all of them.
- The events or jobs are published at once. The figures are rates of a backlog, and say nothing about latency; that is
  [measured](#from-an-event-to-its-first-post) at a fixed rate.
- It favours the baselines that no endpoint is slow, fails or refuses: isolation, retries and cool-downs cost Switchhook time here
  and gain nothing. BullMQ has one queue for all tenants, so a burst of one delays the others.
- It favours the baselines, too, that a thousand jobs are added per round trip. It favours Switchhook that BullMQ with axios has
  one process, as a team would begin; the idle time shows what a second one could use. BullMQ, equal work, has two.

![Deliveries per second compared with four baselines](images/benchmark-deliveries.svg)

| workload | ${SIDES.map((side) => NAMES[side]).join(' | ')} |
| --- | ${SIDES.map(() => '---').join(' | ')} |
${Object.entries(workloads).map(rateRow).join('\n')}

Switchhook relative to each baseline:

| workload | ${BASELINES.map((side) => NAMES[side]).join(' | ')} |
| --- | ${BASELINES.map(() => '---').join(' | ')} |
${Object.entries(workloads).map(ratioRow).join('\n')}

Processor time of a delivery in microseconds, by process; [performance.md](performance.md) says what it is spent on. Publisher and receiver are
part of the load, not of the sides. Idle: the part of the machine's processor time that was not used.

| workload | side | µs | by process | publisher, receiver | idle |
| --- | --- | --- | --- | --- | --- |
${Object.entries(workloads).flatMap(costRows).join('\n')}
`

const BASELINES = SIDES.filter((side) => side !== 'switchhook')

const rateRow = ([name, { sides }]: [string, Workload]): string =>
  `| ${name} | ${SIDES.map((side) => `${sides[side].perSecond} (${sides[side].runs.join(', ')})`).join(' | ')} |`

const ratioRow = ([name, workload]: [string, Workload]): string =>
  `| ${name} | ${BASELINES.map((side) => ratioTo(side, workload)).join(' | ')} |`

const costRows = ([name, { sides }]: [string, Workload]): string[] =>
  SIDES.map((side) => {
    const { costUs, harnessUs, idle } = sides[side]
    const unused = idle === null ? 'not known' : `${Math.round(idle * 100)} %`
    return `| ${name} | ${NAMES[side]} | ${sumOf(costUs)} | ${partsOf(costUs)} | ${partsOf(harnessUs)} | ${unused} |`
  })

const sumOf = (costUs: CostUs): number => Object.values(costUs).reduce((total, us) => total + us, 0)

const partsOf = (costUs: CostUs): string =>
  Object.entries(costUs)
    .map(([part, us]) => `${part} ${us}`)
    .join(', ')

const seconds = (ms: number): string => `${ms / 1_000} s`

export function latencySection({ perSecond, runMs, ours, bare }: LatencyFigure): string {
  return `## From an event to its first POST

${perSecond} events a second for ${runMs / 1_000} s, one subscription each, at a fixed rate. The time is measured by one
clock, from just before the event is published until the endpoint has the complete POST. The bare
loop gets the same rate. Medians of ${ours.runs.length} runs; the two alternate.

![From an event to its first POST, with a bare loop](images/benchmark-latency.svg)

|            | p50, ms | p99, ms | runs, p50 / p99 |
| ---------- | ------- | ------- | --------------- |
${latencyRow('Switchhook', ours)}
${latencyRow('bare loop', bare)}
`
}

export function platformsSection({ rounds, simulator, asterisk, idle }: PlatformsFigure): string {
  const rows = (['answer', 'hold', 'resume', 'hangup'] as const).map((command) => {
    const [own, real] = [simulator[command], asterisk[command]]
    return `| ${command} | ${own.p50Ms} | ${own.p99Ms} | ${real.p50Ms} | ${real.p99Ms} |`
  })
  return `## From a command to its webhook, on each platform

One call at a time: a customer calls an agent, whose client answers, holds, resumes and hangs up; ${rounds} calls on each
platform. The time is measured by the client, from just before the request until its webhook has the event of the command's
effect. [Asterisk](asterisk.md) runs on the same machine with real SIP; the phone answers a NOTIFY. Processor time that nothing
used during the runs: ${idle === null ? 'not known' : `${Math.round(idle * 100)} %`}.

| command | simulator p50, ms | p99, ms | Asterisk p50, ms | p99, ms |
| ------- | ----------------- | ------- | ---------------- | ------- |
${rows.join('\n')}
`
}

const latencyRow = (name: string, { p50Ms, p99Ms, runs }: LatencyFigure['ours']): string =>
  `| ${name} | ${p50Ms} | ${p99Ms} | ${runs.map((run) => `${run.p50Ms} / ${run.p99Ms}`).join(', ')} |`

export function listenersSection(figure: ListenersFigure): string {
  const { perSecond, listeners, runMs, audiences } = figure
  const names = Object.keys(audiences) as AudienceName[]
  const rows = names.map((name) => {
    const { p50Ms, p99Ms, runs, costUs, messagesPerSecond, gaps, apiMib } = audiences[name]
    const times = runs.map((run) => `${run.p50Ms} / ${run.p99Ms}`).join(', ')
    return `| ${AUDIENCE_NAMES[name]} | ${p50Ms} | ${p99Ms} | ${slowdownOf(name, figure)} | ${times} | ${messagesPerSecond} | ${gaps} | ${apiMib} | ${partsOf(costUs)} |`
  })
  return `## Listeners on the live stream

${perSecond} events a second for ${seconds(runMs)}, one subscription each, as above, while ${listeners} clients of one tenant read
its [live stream](live-stream.md) at one api replica: either each client follows one agent, or each follows everything.
Medians of ${audiences.nobody.runs.length} runs; the three alternate. The clients run on the same machine and count messages without parsing
them. A gap is a message that tells a client that it missed something, because it read too slowly.

| listeners | p50, ms | p99, ms | relative to none | runs, p50 / p99 | messages per second | gaps | api, MiB | processor time of an event, µs |
| --------- | ------- | ------- | ---------------- | --------------- | ------------------- | ---- | -------- | --- |
${rows.join('\n')}
`
}

const AUDIENCE_NAMES: Readonly<Record<AudienceName, string>> = {
  nobody: 'none',
  'one agent each': '200, one agent each',
  everything: '200, everything',
}

export function logSection({ deliveries, fanOuts }: LogFigure): string {
  const rows = fanOuts.flatMap(({ subscriptions, on, off }) =>
    Object.entries({ on, off }).map(
      ([name, { perSecond, costUs, runs }]) =>
        `| ${subscriptions} | ${name} | ${perSecond} | ${costUs['fanout'] ?? ''} | ${costUs['redis'] ?? ''} | ${runs.join(', ')} |`,
    ),
  )
  const ratios = fanOuts.map(({ subscriptions, ratio }) => `${ratio} with ${subscriptions} per event`)
  return `## The delivery log

${deliveries} deliveries with the default delivery log (lists per subscription and tenant, a record per
event) and without it (\`DELIVERY_LOG_SIZE=0\`). Fan-out restarts for each run, and the two alternate.
Medians of ${fanOuts[0]?.on.runs.length ?? 0} runs each. Processor time is per delivery.

| deliveries per event | log | deliveries per second | fan-out, µs | Redis, µs | runs |
| -------------------- | --- | --------------------- | ----------- | --------- | ---- |
${rows.join('\n')}

Ratio with the log to without it: ${ratios.join(', ')}.
`
}

export function commandsSection({ agents, byClients, events, redisCalls }: CommandsFigure): string {
  const rows = byClients.flatMap(({ clients, commands, baseline }) => [
    commandRow(clients, 'commands accepted', commands),
    commandRow(clients, 'bare server, one write', baseline),
  ])
  const ratios = byClients.map(({ clients, ratio }) => `${ratio} with ${clients} clients`)
  const costs = Object.entries(redisCalls).map(([name, { reads, writes }]) => `| ${name} | ${reads} | ${writes} |`)
  return `## Commands accepted

${agents} agents on the simulator, one api replica, clients without think time. Six commands per round: an incoming call is
answered, held, resumed and hung up; then the agent dials and hangs up. The request that makes the simulator ring is not counted, but its cost is included. The
baseline is a bare Express server that parses the same JSON and makes one \`SET\` on the same Redis: no token, no rules, no state, no events, no log. Medians
over ${byClients[0]?.commands.runs.length ?? 0} runs, the two sides in turn.

![Commands per second, with a bare server](images/benchmark-commands.svg)

| clients | side | per second | p50, ms | p99, ms | runs | processor time of a request, µs |
| ------- | ---- | ---------- | ------- | ------- | ---- | --- |
${rows.join('\n')}

Commands per second relative to the bare server: ${ratios.join(', ')}.

### Events

Every event of further commands was collected in a queue: ${events.events} events of ${events.commands} commands and their calls
(${(events.events / Math.max(1, events.commands)).toFixed(2)} per command), ${events.legs} legs. Missing: ${events.missing}. Published twice: ${events.doubled}. Legs without an
end: ${events.unended}.

### What a command costs in Redis

One command at a time on an idle stack: reads of records, and scripts that write. Each is one round trip. The
scripts include the one that counts the client's requests, and those that read and clear the outbox, which a busy stack shares among many commands.

| command | reads | scripts |
| ------- | ----- | ------- |
${costs.join('\n')}
`
}

const commandRow = (clients: number, name: string, side: CommandsFigure['byClients'][number]['commands']): string =>
  `| ${clients} | ${name} | ${side.perSecond} | ${side.p50Ms} | ${side.p99Ms} | ${side.runs.join(', ')} | ${sumOf(side.costUs)}: ${partsOf(side.costUs)} |`
