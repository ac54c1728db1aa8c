import type { BacklogFigure } from '../figures/backlog.ts'
import type { MemoryFigure } from '../figures/memory.ts'
import type { NoisyFigure } from '../figures/noisy.ts'
import type { OutageFigure } from '../figures/outage.ts'

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`

export function noisySection({ few, many, deadlineMs }: NoisyFigure): string {
  return `## Noisy neighbours

${few.eventsPerSecond * few.endpoints} deliveries a second over ${few.endpoints} endpoints with an origin of their own. First all endpoints answer, then ${few.hanging} of them hang until the deadline,
which is ${seconds(deadlineMs)} here instead of 10 s. Time from the event to the first POST at the ${few.endpoints - few.hanging} that answer: p99 in ms while all answer, while some hang
and none of their attempts has timed out yet, and from ${seconds(deadlineMs + 2_000)} on, when the breaker knows. Medians over ${few.runs.length} runs. BullMQ with axios: the same
POSTs as jobs, two processes with as many in hand as our two workers, the same deadline, no retries, one run. Then the same rate over
${many.endpoints} endpoints of which ${many.hanging} hang, medians over ${many.runs.length} runs.

![Healthy endpoints while one in five hangs, beside BullMQ](images/benchmark-noisy.svg)

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

${backlog} deliveries for one endpoint that hangs (deadline ${seconds(deadlineMs)}, cool-down ${seconds(cooldownMs)}), published at once beside ${healthyPerSecond} deliveries a second for others. Nearly all
of them are put off without a POST: most move aside to a lane, use up their first slot in the cool-down, wait 10 s, use up the next, and wait a minute or
more. That took ${seconds(settledMs)}, and per delivery, above what the healthy load costs:

| CPU time of | ms per delivery |
| ----------- | --------------- |
${cpu.join('\n')}

The broker took ${cost.published} messages per delivery from publishers, the event itself among them, and handed out ${cost.delivered}.

| the healthy endpoints | p50, ms | p99, ms |
| --------------------- | ------- | ------- |
| alone | ${alone.p50Ms} | ${alone.p99Ms} |
| for the ${seconds(burstMs)} in which the burst passes the queues that all share | ${behind.p50Ms} | ${behind.p99Ms} |
| while the backlog is put off | ${beside.p50Ms} | ${beside.p99Ms} (${ratio} ×) |
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

${endpoints} endpoints with an origin each, ${deliveriesPerSecond} deliveries a second. All of them acknowledge for ${seconds(calmMs)}; then some answer as nobody should:

| answer | endpoints | given |
| ------ | --------- | ----- |
${behaviours.join('\n')}

![Resident memory of the workers over time](images/benchmark-memory.svg)

Resident memory in MiB. Warm: after a third of the time in which they misbehave; flat: at the end no more than a tenth above it.

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

${figure.callsPerSecond} calls a second come in, are answered and hung up; the broker is killed and started again ${seconds(figure.awayMs)} later. Meanwhile the api accepts
what comes, and keeps the events. Accepted in all: ${figure.calls} calls; refused calls and commands: ${figure.refused}. Events that occurred while the broker was away: ${figure.accepted}.

![POSTs a second over time, with a broker that is away for a while](images/benchmark-outage.svg)

From the moment the broker answered again: the first POST after ${seconds(figure.firstMs)}, all that had been kept after ${seconds(figure.allMs)}. Lost: ${figure.lost}. Sent twice:
${figure.repeated}.
`
