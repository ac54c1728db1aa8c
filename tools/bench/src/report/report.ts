import { consoleSection } from './console-section.ts'
import { costSection } from './cost-section.ts'
import { backlogSection, fairnessSection, memorySection, noisySection, outageSection } from './endurance-sections.ts'
import type { Results, Taken } from './results.ts'
import {
  commandsSection,
  deliveriesSection,
  latencySection,
  listenersSection,
  logSection,
  platformsSection,
} from './speed-sections.ts'
import { compareWithTargets } from './targets.ts'

/** Renders `docs/benchmarks.md`: targets, figures and how they were measured. */
export function renderReport(results: Results): string {
  return [
    HEAD,
    targets(results),
    ...section(results.deliveries, deliveriesSection),
    ...section(results.latency, latencySection),
    ...section(results.listeners, listenersSection),
    ...section(results.platforms, platformsSection),
    ...section(results.log, logSection),
    ...section(results.cost, costSection),
    ...section(results.noisy, noisySection),
    ...section(results.backlog, backlogSection),
    ...section(results.fairness, fairnessSection),
    ...section(results.memory, memorySection),
    ...section(results.outage, outageSection),
    ...section(results.commands, commandsSection),
    ...section(results.console, consoleSection),
    machines(results),
  ].join('\n')
}

const section = <T>(taken: Taken<T> | undefined, render: (figure: T) => string): string[] =>
  taken === undefined ? [] : [render(taken.figure)]

const HEAD = `# Benchmarks

\`make bench\` writes this page. The figures were measured on one machine, which also runs the broker,
Redis, the services, the endpoints, the clients and the baselines. The ratios apply more widely than
the absolute numbers. \`make bench FIGURES=latency,noisy\` measures single figures again and keeps the
others; \`OUTAGE=10m\`, \`BACKLOG=100000\` and \`MEMORY_TIME=10m\` make three of them longer, and
\`COST_WAITING=0,100000\` makes \`cost\` shorter.
`

function targets(results: Results): string {
  const rows = compareWithTargets(results).map(
    ({ figure, target, measured, verdict }) => `| ${figure} | ${target} | ${measured} | ${verdict} |`,
  )
  return `## Targets

For two cores that also run everything else.

| figure | target | measured | |
| ------ | ------ | -------- | --- |
${rows.join('\n')}
`
}

function machines(results: Results): string {
  const rows = Object.entries(results).map(
    ([name, { at, machine, providers }]) =>
      `| ${name} | ${at.slice(0, 16).replace('T', ' ')} | ${machine.cores} cores (${machine.processor}), ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node} | ${providers['rabbitmq']} | ${providers['redis']} |`,
  )
  return `## Date and machine of each figure

Redis keeps an append-only file with \`appendfsync always\`. Services use the default log level: one line
per attempt.

| figure | UTC | machine | RabbitMQ | Redis |
| ------ | --- | ------- | -------- | ----- |
${rows.join('\n')}
`
}
