import { connect } from 'amqplib'
import type { Baseline } from '../baselines/baseline.ts'
import { openDurableLoop } from '../baselines/durable-loop.ts'
import type { Bench } from '../bench.ts'
import { deskRounds } from '../figures/commands.ts'
import {
  CONCURRENCY,
  openOurSide,
  PACKED,
  subscribeWorkload,
  WORKLOADS,
  type WorkloadName,
} from '../figures/deliveries.ts'
import { pidsOf } from '../figures/stack-pids.ts'
import { openClient } from '../load/client.ts'
import { applyLoad } from '../load/load.ts'
import { timePosts } from '../load/time-posts.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { startChild } from '../processes/child.ts'
import { profiledInto } from './cpu-profile.ts'

/** What one side did in its measured time. The profiles of its Node processes exist once they have ended. */
export interface Period {
  readonly perSecond: number
  /** The processes of the side by part. */
  readonly parts: Baseline['processes']
  /** Processor time of a delivery or command by part, in µs. */
  readonly costUs: CostUs
  /** Of `process.hrtime`'s clock, in µs. */
  readonly fromUs: number
  readonly toUs: number
}

/** The measured periods by side. */
export type Periods = Readonly<Record<string, Period>>

/** Until the engines have compiled what they run. */
const WARM_UP_ROUNDS = 8
const WARM_UP_DELIVERIES = 4_000
const WARM_UP_MS = 15_000
const CLIENTS = 32

interface Options {
  readonly measureMs: number
  /** Where Node's processes write their profiles. */
  readonly folder: string
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)

/** @param work resolves to the number of deliveries or commands */
async function measurePeriod(parts: Period['parts'], work: () => Promise<number>): Promise<Period> {
  const meter = createMeter(parts)
  const fromUs = nowUs()
  const units = await meter.during(work)
  const toUs = nowUs()
  return { perSecond: (units * 1_000_000) / (toUs - fromUs), parts, costUs: meter.costUs(units), fromUs, toUs }
}

/** Deliveries of one workload: those of Switchhook, then those of the durable loop that packs as many per message. */
export const profileDeliveries =
  (name: WorkloadName) =>
  async (bench: Bench, { measureMs, folder }: Options): Promise<Periods> => {
    const { stack } = bench
    const { perEvent } = WORKLOADS[name]
    const receiver = await startChild('receiver-server.js')
    const url = `http://127.0.0.1:${receiver.ready['port']}/hook`
    const model = await connect(stack.urls.amqp)
    const channel = await model.createConfirmChannel()
    const unsubscribe = await subscribeWorkload(bench, name, url)

    async function profile(side: Baseline): Promise<Period> {
      const post = (deliveries: number): Promise<number> =>
        timePosts(receiver, () => side.publish(deliveries), deliveries)
      let perSecond = 0
      for (let round = 0; round < WARM_UP_ROUNDS; round++) perSecond = await post(WARM_UP_DELIVERIES)
      const deliveries = Math.ceil((perSecond * measureMs) / 1_000 / perEvent) * perEvent
      return await measurePeriod(side.processes, async () => {
        await post(deliveries)
        return deliveries
      })
    }

    try {
      const ours = await profile(openOurSide(bench, channel, name))
      const execArgv = profiledInto(folder)
      const options = { stack, channel, url, perEvent, concurrency: CONCURRENCY, execArgv }
      const loop = await openDurableLoop(options, { packed: PACKED, workers: 2, records: true })
      try {
        return { Switchhook: ours, 'durable loop, 16 per message': await profile(loop) }
      } finally {
        await loop.close()
      }
    } finally {
      await unsubscribe()
      await receiver.stop()
      await model.close()
    }
  }

/** Call commands over REST, without think time. */
export async function profileCommands({ stack, token }: Bench, { measureMs }: Options): Promise<Periods> {
  const api = openClient(stack.urls.apis[0] ?? '', CLIENTS, token)
  const parts = pidsOf(stack, 'api', 'fanout', 'rabbitmq', 'redis')
  try {
    await applyLoad(deskRounds(api, CLIENTS), { warmUpMs: 0, measureMs: WARM_UP_MS })
    const period = await measurePeriod(parts, async () => {
      const { allRequests } = await applyLoad(deskRounds(api, CLIENTS), { warmUpMs: 0, measureMs })
      return allRequests
    })
    return { Switchhook: period }
  } finally {
    await api.close()
  }
}
