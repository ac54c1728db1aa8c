import type { BacklogFigure } from './backlog-figure.ts'
import type { MemoryFigure } from './memory-figure.ts'
import type { NoisyFigure } from './noisy-figure.ts'
import type { OutageFigure } from './outage-figure.ts'

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`

export function noisySection({ endpoints, hanging, eventsPerSecond, deadlineMs, ours, bullmq }: NoisyFigure): string {
  const row = (name: string, side: NoisyFigure['bullmq']): string => {
    const { quiet, before, steady, beforeRatio, steadyRatio } = side
    return `| ${name} | ${quiet.p99Ms} | ${before.p99Ms} (${beforeRatio} ×) | ${steady.p99Ms} (${steadyRatio} ×) |`
  }
  return `## Noisy neighbours

${eventsPerSecond} events a second, each for ${endpoints} endpoints with an origin of their own: ${eventsPerSecond * endpoints} deliveries a second. First all endpoints answer, then ${hanging} of
them hang until the deadline, which is ${seconds(deadlineMs)} here instead of 10 s. Time from the event to the first POST at the ${endpoints - hanging} that answer: p99 in ms while all
answer, while some hang and none of their attempts has timed out yet, and from ${seconds(deadlineMs + 2_000)} on, when the breaker knows. Medians over ${ours.runs.length} runs. BullMQ with axios: the same
POSTs as jobs, two processes with as many in hand as our two workers, the same deadline, no retries, one run.

![Healthy endpoints while one in five hangs, beside BullMQ](images/benchmark-noisy.svg)

|                   | all answer | ${hanging} hang, before the cool-down | then |
| ----------------- | ---------- | --- | ---- |
${row('Switchhook', ours)}
${row('BullMQ with axios', bullmq)}
`
}

export function backlogSection(figure: BacklogFigure): string {
  const { backlog, deadlineMs, cooldownMs, healthyPerSecond, settledMs, cost, alone, beside, ratio } = figure
  const cpu = Object.entries(cost.cpuMs).map(([part, ms]) => `| ${part} | ${ms ?? 'not known'} |`)
  return `## A dead endpoint with a backlog

${backlog} deliveries for one endpoint that hangs (deadline ${seconds(deadlineMs)}, cool-down ${seconds(cooldownMs)}), published at once beside ${healthyPerSecond} deliveries a second for others. Nearly all
of them are put off without a POST: most move aside to a lane, use up their first slot in the cool-down, wait 10 s, use up the next, and wait a minute or
more. That took ${seconds(settledMs)}, and per delivery, above what the healthy load costs:

| CPU time of | ms per delivery |
| ----------- | --------------- |
${cpu.join('\n')}

The broker took ${cost.published} messages per delivery from publishers, the event itself among them, and handed out ${cost.delivered}. The healthy endpoints' p99 was
${alone.p99Ms} ms alone and ${beside.p99Ms} ms meanwhile (${ratio} ×).
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
