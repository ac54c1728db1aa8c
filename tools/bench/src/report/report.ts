import { backlogSection, memorySection, noisySection, outageSection } from './endurance-sections.ts'
import type { Results, Taken } from './results.ts'
import { commandsSection, deliveriesSection, latencySection, logSection } from './speed-sections.ts'
import { compareWithTargets } from './targets.ts'

/** `docs/benchmarks.md`: what was aimed at, what was measured, and what it means. */
export function renderReport(results: Results): string {
  return [
    HEAD,
    targets(results),
    ...section(results.deliveries, deliveriesSection),
    ...section(results.latency, latencySection),
    ...section(results.log, logSection),
    ...section(results.noisy, noisySection),
    ...section(results.backlog, backlogSection),
    ...section(results.memory, memorySection),
    ...section(results.outage, outageSection),
    ...section(results.commands, commandsSection),
    machines(results),
  ].join('\n')
}

const section = <T>(taken: Taken<T> | undefined, render: (figure: T) => string): string[] =>
  taken === undefined ? [] : [render(taken.figure)]

const HEAD = `# Benchmarks

Written by \`make bench\`; the numbers are those of one machine on one day, the ratios travel further. Broker, Redis, services,
endpoints, clients and baselines share the machine. \`make bench FIGURES=latency,noisy\` takes single figures anew and keeps the
others; \`OUTAGE=10m\`, \`BACKLOG=100000\` and \`MEMORY_TIME=10m\` make three of them longer.
`

function targets(results: Results): string {
  const rows = compareWithTargets(results).map(
    ({ figure, target, measured, verdict }) => `| ${figure} | ${target} | ${measured} | ${verdict} |`,
  )
  return `## What was aimed at

On two cores that also run everything else.

| figure | target | measured | |
| ------ | ------ | -------- | --- |
${rows.join('\n')}
`
}

function machines(results: Results): string {
  const rows = Object.entries(results).map(
    ([name, { at, machine, rungs }]) =>
      `| ${name} | ${at.slice(0, 16).replace('T', ' ')} | ${machine.cores} cores (${machine.processor}), ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node} | ${rungs['rabbitmq']} | ${rungs['redis']} |`,
  )
  return `## When, and on what

Redis keeps an append-only file with \`appendfsync always\`. Services log as they do by default, a line per attempt.

| figure | UTC | machine | RabbitMQ | Redis |
| ------ | --- | ------- | -------- | ----- |
${rows.join('\n')}
`
}
