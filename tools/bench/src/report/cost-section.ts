import type { CostFigure, CostPoint, CurveName } from '../figures/cost.ts'
import { plotStacks } from './plot.ts'

const CURVES: Readonly<Record<CurveName, string>> = {
  subscriptions: 'Subscriptions',
  waiting: 'Waiting deliveries',
  workers: 'Worker processes',
}

const names = Object.keys(CURVES) as CurveName[]
/** Independent of the language of the machine. */
const grouped = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

export const plotCost = ({ curves }: CostFigure): string =>
  plotStacks(
    'Processor time of a delivery by process, with growing numbers of subscriptions, waiting deliveries and workers',
    'processor time of a delivery in µs, and deliveries per second',
    names.map((name) => ({
      name: CURVES[name],
      stacks: curves[name].map(({ at, costUs, perSecond }) => ({
        name: grouped(at),
        parts: costUs,
        note: `µs, ${perSecond}/s`,
      })),
    })),
  )

export const costSection = ({ runMs, subscriptions, workers, pinned, curves }: CostFigure): string => `## Cost curves

The processor time of a delivery, one per event, while one quantity grows. Otherwise there are
${grouped(subscriptions)} subscriptions that get events, ${workers} workers, and nothing waits. Each subscription has a tenant of its own, and
the events take turns among the tenants. With more subscriptions than a run has events, no index and no other
state that a process remembers is used twice. A waiting delivery is a message in the last
wait queue and a record in Redis. Each point is one run of about ${runMs / 1_000} s. ${pinned ? 'Each worker is bound to one core, in turn' : 'The workers are not bound to cores'}. RabbitMQ, Redis, publisher
and receiver use the same cores, so more workers than cores add no throughput here.

![Processor time of a delivery by process](images/benchmark-cost.svg)

| | | deliveries per second | µs per delivery | by process | memory, MiB | idle |
| --- | --- | --- | --- | --- | --- | --- |
${names.flatMap((name) => curves[name].map((point) => row(CURVES[name], point))).join('\n')}
`

const list = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

function row(curve: string, { at, perSecond, costUs, memoryMib, idle }: CostPoint): string {
  const total = Object.values(costUs).reduce((sum, us) => sum + us, 0)
  const free = idle === null ? 'not known' : `${Math.round(idle * 100)} %`
  return `| ${curve} | ${grouped(at)} | ${perSecond} | ${total} | ${list(costUs)} | ${list(memoryMib)} | ${free} |`
}
