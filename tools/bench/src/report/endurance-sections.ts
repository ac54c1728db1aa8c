import type { BacklogFigure } from '../figures/backlog.ts'
import type { FairnessFigure } from '../figures/fairness.ts'
import type { MemoryFigure } from '../figures/memory.ts'
import type { NoisyFigure } from '../figures/noisy.ts'
import type { OutageFigure } from '../figures/outage.ts'

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`

export function noisySection({ few, many, deadlineMs }: NoisyFigure): string {
  return `## Noisy neighbours

${few.eventsPerSecond * few.endpoints} deliveries a second to ${few.endpoints} endpoints with separate origins. First all endpoints answer, then
${few.hanging} of them hang until the deadline, which is ${seconds(deadlineMs)} here instead of 10 s. The table shows the p99 in ms
from the event to the first POST at the ${few.endpoints - few.hanging} that answer: while all answer; while some hang and none of
their attempts has timed out; and from ${seconds(deadlineMs + 2_000)} on, when the circuit breakers are open. Medians of ${few.runs.length} runs.
BullMQ with axios sends the same POSTs as jobs: two processes with the concurrency of our two
workers, the same deadline, no retries, one run. The last row is the same rate over ${many.endpoints} endpoints, of
which ${many.hanging} hang: medians of ${many.runs.length} runs.

![Healthy endpoints while one in five hangs, with BullMQ](images/benchmark-noisy.svg)

|                   | all answer | one in five hangs, before the cool-down | then |
| ----------------- | ---------- | --- | ---- |
${noisyRow(`Switchhook, ${few.hanging} of ${few.endpoints}`, few.ours)}
${noisyRow(`BullMQ with axios, ${few.hanging} of ${few.endpoints}`, few.bullmq)}
${noisyRow(`Switchhook, ${many.hanging} of ${many.endpoints}`, many.ours)}
`
}

const noisyRow = (name: string, side: NoisyFigure['few']['ours']): string => {
  const { quiet, before, steady, beforeRatio, steadyRatio } = side
  return `| ${name} | ${quiet.p99Ms} | ${before.p99Ms} (${beforeRatio} ×) | ${steady.p99Ms} (${steadyRatio} ×) |`
}

export function backlogSection(figure: BacklogFigure): string {
  const { backlog, deadlineMs, cooldownMs, healthyPerSecond, settledMs, burstMs, cost, alone, behind, beside, ratio } =
    figure
  const cpu = Object.entries(cost.cpuMs).map(([part, ms]) => `| ${part} | ${ms ?? 'not known'} |`)
  return `## A dead endpoint with a backlog

${backlog} deliveries for one hanging endpoint (deadline ${seconds(deadlineMs)}, cool-down ${seconds(cooldownMs)}) are published at once, next to
${healthyPerSecond} deliveries a second for others. Nearly all are deferred without a POST: most move to a lane, use
up their first slot in the cool-down, wait 10 s, use up the next, and wait a minute or more. That took
${seconds(settledMs)}. Cost per delivery, in addition to the healthy load:

| CPU time of | ms per delivery |
| ----------- | --------------- |
${cpu.join('\n')}

Per delivery, the broker received ${cost.published} messages from publishers, the event included, and delivered
${cost.delivered}.

| the healthy endpoints | p50, ms | p99, ms |
| --------------------- | ------- | ------- |
| alone | ${alone.p50Ms} | ${alone.p99Ms} |
| for the ${seconds(burstMs)} in which the burst passes the shared queues | ${behind.p50Ms} | ${behind.p99Ms} |
| while the backlog is deferred | ${beside.p50Ms} | ${beside.p99Ms} (${ratio} ×) |
`
}

export function fairnessSection(figure: FairnessFigure): string {
  const { events, perEvent, otherTenants, othersPerSecond, alone, bursts } = figure
  const rows = bursts.map(
    ({ hanging, publishedMs, observedMs, isDrained, others }) =>
      `| burst, ${hanging} of ${perEvent} endpoints hang | ${seconds(publishedMs)} | ${seconds(observedMs)}${isDrained ? ', all attempted' : ''} | ${others.p50Ms} | ${others.p99Ms} |`,
  )
  return `## A burst of one tenant

One tenant publishes ${events} events at once; each becomes a delivery for each of its ${perEvent} endpoints.
${otherTenants} other tenants with one endpoint each publish ${othersPerSecond} events a second together. The table shows their
time from the event to the first POST. They are observed until the burst has been attempted, or for a
fixed time; the rest of the burst is then discarded.

|       | publishing the burst took | observed | p50, ms | p99, ms |
| ----- | ------------------------- | -------- | ------- | ------- |
| alone |  |  | ${alone.p50Ms} | ${alone.p99Ms} |
${rows.join('\n')}
`
}

export function memorySection({ endpoints, wild, deliveriesPerSecond, calmMs, workers }: MemoryFigure): string {
  const behaviours = Object.entries(wild).map(
    ([name, { endpoints: count, answers }]) => `| ${WILD[name] ?? name} | ${count} | ${answers} |`,
  )
  const rows = workers.map(
    ({ startMib, warmMib, endMib, mostMib, mibPerMinute, isFlat }, at) =>
      `| worker ${at + 1} | ${startMib} | ${warmMib} | ${endMib} | ${mostMib} | ${mibPerMinute} | ${isFlat ? 'yes' : 'no'} |`,
  )
  return `## Memory

${endpoints} endpoints with separate origins, ${deliveriesPerSecond} deliveries a second. All acknowledge for ${seconds(calmMs)}; then some send
hostile answers:

| answer | endpoints | given |
| ------ | --------- | ----- |
${behaviours.join('\n')}

![Resident memory of the workers over time](images/benchmark-memory.svg)

Resident memory in MiB. _Warm_ is the value after a third of the hostile period. _Flat_ means that the
value at the end is at most a tenth above it.

|          | start | warm | end | most | growth per minute | flat |
| -------- | ----- | ---- | --- | ---- | ----------------- | ---- |
${rows.join('\n')}
`
}

const WILD: Readonly<Record<string, string>> = {
  endless: 'a body without end',
  bomb: '50 KB of gzip that are 50 MB',
  headers: '60 KB of headers',
  drip: 'one byte a second, without end',
}

export const outageSection = (figure: OutageFigure): string => `## A broker that is away

${figure.callsPerSecond} calls a second arrive, are answered and hung up. The broker is killed and restarted ${seconds(figure.awayMs)} later.
Meanwhile the api accepts calls and stores their events. Accepted calls in total: ${figure.calls}. Refused calls
and commands: ${figure.refused}. Events while the broker was away: ${figure.accepted}.

![POSTs a second over time; the broker is away for a while](images/benchmark-outage.svg)

After the broker's return, the first POST was sent after ${seconds(figure.firstMs)}, and all stored events were delivered
after ${seconds(figure.allMs)}. Lost: ${figure.lost}. Sent twice: ${figure.repeated}.
`
