import { CHOICES, type Inputs, type Workload } from './inputs.ts'
import {
  cellsNeeded,
  divideTenants,
  overloaded,
  placeByDirectory,
  placeByHash,
  skewOf,
  sum,
  zipfLoads,
} from './place-tenants.ts'
import { type CellPlan, planCell } from './plan-cell.ts'
import { plotCells } from './plot.ts'

/** The generated part of docs/scaling.md, and its picture. */
export interface Description {
  readonly markdown: string
  readonly plot: string
}

const TENANTS = 10_000
const EXPONENTS = [0.8, 1, 1.2] as const
const PLOTTED_EXPONENT = 1
/** A part of a divided tenant is at most this part of a cell, so that cells can be filled evenly. */
const LARGEST_PART = 0.25

const whole = (value: number): string => Math.round(value).toLocaleString('en-GB')
const tenth = (value: number): string => value.toFixed(1)

/** Plans a cell for each workload, and simulates the placement of tenants for the first one. */
export function describeCells(workloads: readonly Workload[]): Description {
  const plans = workloads.map((workload) => ({ workload, plan: planCell({ ...CHOICES, workload }) }))
  const [first] = plans
  if (first === undefined) throw new Error('there is no workload to plan for')
  return {
    markdown: [inputTable(workloads), limitTables(plans), cellTable(plans), skewTable(first.plan)].join('\n\n'),
    plot: plotPlacement(first.plan),
  }
}

type Planned = { readonly workload: Workload; readonly plan: CellPlan }

function inputTable(workloads: readonly Workload[]): string {
  const { redis, rabbitmq, plannedLoad }: Omit<Inputs, 'workload'> = CHOICES
  const of = (pick: (workload: Workload) => number | string): string => workloads.map(pick).join(' | ')
  const same = (value: string): string => workloads.map(() => value).join(' | ')
  return table(
    ['input', ...workloads.map(({ name }) => name), 'source'],
    [
      ['processor time per delivery, workers', of(({ costs }) => `${costs.workers} µs`), 'measured'],
      ['fan-out', of(({ costs }) => `${costs.fanout} µs`), 'measured'],
      ['RabbitMQ, one node', of(({ costs }) => `${costs.rabbitmq} µs`), 'measured'],
      ['Redis', of(({ costs }) => `${costs.redis} µs`), 'measured'],
      ['through one queue, highest rate seen', of((one) => `${whole(one.seenThroughOneQueue)}/s`), 'measured'],
      ['planned load of a core and of memory', same(`${plannedLoad * 100} %`), 'chosen'],
      ['Redis: memory', same(`${redis.memoryGib} GiB`), 'chosen'],
      ['`DELIVERY_RETENTION`', same(`${redis.retentionSeconds} s`), 'default'],
      [
        'Redis: per delivery, per event, per subscription',
        same(`${redis.bytesPerDelivery}, ${redis.bytesPerEvent}, ${redis.bytesPerSubscription} bytes`),
        'measured',
      ],
      ['RabbitMQ: nodes and cores of each', same(`${rabbitmq.nodes} × ${rabbitmq.coresPerNode}`), 'chosen'],
      ['RabbitMQ: body and headers, written twice', same(`${rabbitmq.bytesPerMessage} bytes`), 'measured'],
    ],
  )
}

function limitTables(plans: readonly Planned[]): string {
  return plans
    .map(({ workload, plan }) =>
      [
        `**${workload.name}: which limit comes first, and next**`,
        table(
          ['limit of a cell', 'deliveries per second', 'more of it'],
          plan.limits.map(({ resource, deliveriesPerSecond, remedy }) => [
            resource,
            whole(deliveriesPerSecond),
            remedy,
          ]),
        ),
      ].join('\n\n'),
    )
    .join('\n\n')
}

function cellTable(plans: readonly Planned[]): string {
  const row = (name: string, pick: (planned: Planned) => string): string[] => [name, ...plans.map(pick)]
  return table(
    ['one cell', ...plans.map(({ workload }) => workload.name)],
    [
      row('deliveries per second', ({ plan }) => whole(plan.deliveriesPerSecond)),
      row('subscriptions, if they are spread like the deliveries', ({ plan }) => whole(plan.subscriptionsPerCell)),
      row('worker and fan-out processes, one core each', ({ plan: { parts } }) => `${parts.workers} + ${parts.fanout}`),
      row('cores: processes, RabbitMQ, Redis', ({ plan }) => whole(plan.parts.cores)),
      row('written by each RabbitMQ node', ({ plan }) => `${whole(plan.parts.diskBytesPerSecond / 1e6)} MB/s`),
      row('**cells for 1,000,000 deliveries a second**', ({ plan }) => `**${plan.cells}**`),
      row('cores in all', ({ plan }) => whole(plan.cells * plan.parts.cores)),
      row('memory of Redis in all', ({ plan }) => `${whole(plan.cells * plan.parts.redisMemoryGib)} GiB`),
    ],
  )
}

/** The load that one cell is planned for, as a part of the goal. */
const capacityOf = ({ deliveriesPerSecond }: CellPlan): number => deliveriesPerSecond / CHOICES.goal.deliveriesPerSecond

function skewTable(plan: CellPlan): string {
  const capacity = capacityOf(plan)
  return table(
    [
      'exponent',
      'largest tenant',
      'its parts',
      'by hash: fullest cell',
      'above plan',
      'cells needed',
      'by directory: fullest cell',
      'cells needed',
    ],
    EXPONENTS.map((exponent) => {
      const loads = zipfLoads(TENANTS, exponent)
      const pieces = divideTenants(loads, LARGEST_PART * capacity)
      const byHash = placeByHash(pieces, plan.cells)
      const byDirectory = placeByDirectory(pieces, plan.cells)
      return [
        String(exponent),
        `${whole((loads[0] ?? 0) * CHOICES.goal.deliveriesPerSecond)}/s`,
        String(pieces.filter(({ tenant }) => tenant === 0).length),
        `${tenth(skewOf(byHash))} × mean`,
        `${overloaded(byHash, capacity)} of ${plan.cells}`,
        String(cellsNeeded(placeByHash, pieces, capacity)),
        `${skewOf(byDirectory).toFixed(3)} × mean`,
        String(cellsNeeded(placeByDirectory, pieces, capacity)),
      ]
    }),
  )
}

function plotPlacement(plan: CellPlan): string {
  const capacity = capacityOf(plan)
  const loads = zipfLoads(TENANTS, PLOTTED_EXPONENT)
  const undivided = divideTenants(loads, sum(loads))
  const divided = divideTenants(loads, LARGEST_PART * capacity)
  const relative = (placement: readonly number[]): number[] => placement.map((load) => load / capacity)
  return plotCells(
    `Load of ${plan.cells} cells with ${TENANTS} tenants under Zipf's law: tenants whole or divided, placed by hash or by directory`,
    [
      { name: 'whole tenants, by hash', loads: relative(placeByHash(undivided, plan.cells)) },
      { name: 'divided, by hash', loads: relative(placeByHash(divided, plan.cells)) },
      { name: 'divided, by directory', loads: relative(placeByDirectory(divided, plan.cells)) },
    ],
  )
}

/** A table that reads well as text: cells padded to the width of their column. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  // A cell may hold several columns.
  const all = [head, ...rows].map((row) => row.flatMap((cell) => cell.split(' | ')))
  const widths = head.map((_cell, at) => Math.max(3, ...all.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const [first = [], ...others] = all
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n')
}
