/** Processor time of one delivery, in µs, by part, with a RabbitMQ of one node. */
interface Costs {
  readonly workers: number
  readonly fanout: number
  readonly rabbitmq: number
  readonly redis: number
}

export interface Workload {
  readonly name: string
  readonly deliveriesPerEvent: number
  readonly costs: Costs
  /** The highest rate that was seen through one quorum queue, in messages per second. A queue may bear more. */
  readonly seenThroughOneQueue: number
}

/** The goal, the rules by which a cell is planned, and the figures that were measured. */
export interface Inputs {
  readonly goal: { readonly deliveriesPerSecond: number; readonly subscriptions: number }
  readonly workload: Workload
  /** The part of a core or of memory that is planned with. The rest is for peaks, restarts and catching up. */
  readonly plannedLoad: number
  /** Redis: what a cell gives it, and what it keeps (docs/operations.md, "Redis's memory"). */
  readonly redis: {
    readonly memoryGib: number
    /** `DELIVERY_RETENTION`. */
    readonly retentionSeconds: number
    readonly bytesPerDelivery: number
    readonly bytesPerEvent: number
    readonly bytesPerSubscription: number
  }
  readonly rabbitmq: {
    readonly nodes: number
    readonly coresPerNode: number
    /** A message: body and headers. Each node writes it to its log and to a segment. */
    readonly bytesPerMessage: number
    readonly writesPerMessage: number
  }
}

/** Sizes that an operator chooses. The measured figures come from docs/benchmarks/results.json. */
export const CHOICES = {
  goal: { deliveriesPerSecond: 1_000_000, subscriptions: 1_000_000 },
  plannedLoad: 0.5,
  redis: {
    memoryGib: 64,
    retentionSeconds: 3_600,
    bytesPerDelivery: 600,
    bytesPerEvent: 544,
    bytesPerSubscription: 1_000,
  },
  rabbitmq: { nodes: 3, coresPerNode: 4, bytesPerMessage: 1_700, writesPerMessage: 2 },
} as const

interface Results {
  readonly deliveries: {
    readonly figure: {
      readonly workloads: Readonly<
        Record<
          string,
          {
            readonly perEvent: number
            readonly sides: {
              readonly switchhook: { readonly costUs: Costs }
              readonly bare: { readonly perSecond: number }
            }
          }
        >
      >
    }
  }
}

/** The workloads of the benchmark, with the processor time that Switchhook's processes used. */
export function workloadsOf(results: string, names: readonly string[]): readonly Workload[] {
  const { workloads } = (JSON.parse(results) as Results).deliveries.figure
  return names.map((name) => {
    const workload = workloads[name]
    if (workload === undefined) throw new Error(`docs/benchmarks/results.json has no workload ${name}`)
    const { switchhook, bare } = workload.sides
    return {
      name,
      deliveriesPerEvent: workload.perEvent,
      costs: switchhook.costUs,
      seenThroughOneQueue: bare.perSecond,
    }
  })
}
