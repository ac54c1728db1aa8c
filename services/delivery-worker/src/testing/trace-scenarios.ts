import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  newTraceparent,
  type Outcome,
} from '@switchhook/contracts'
import { loadConfig, openTracing, type Tracing, tracePublishDelivery } from '@switchhook/runtime'
import { workerFields } from '../config.ts'
import type { DeliverDeps } from '../pipeline/deliver.ts'
import { traceTurns } from '../reporting/delivery-spans.ts'

/**
 * Run as a process of its own, as the exporter loads modules in a way that Jest does not know: the scenario's name and its
 * input are the arguments; each line that it writes is what was logged, the last one its result.
 */
const [, , name = '', input = ''] = process.argv
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const log = { error: say, warn: say, info: say, debug: say }

function aDelivery(change: Partial<Delivery> = {}): Delivery {
  const [eventId, subscriptionId] = [newEventId(), newSubscriptionId()]
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example:8443/hook?token=secret',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-01-01T00:00:00.000Z',
    traceparent: newTraceparent(),
    body: Buffer.from('{"data":"private"}'),
    ...change,
  }
}

const attemptOf = ({ run, slot }: Delivery, attempt: number, outcome: Outcome): Attempt => ({
  run,
  slot,
  attempt,
  at: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  outcome: outcome.kind === 'unreachable' ? outcome.reason : outcome.kind,
  status: outcome.kind === 'unreachable' ? null : outcome.status,
})

/** A worker's turn, reduced to what spans are laid around. */
function worker(tracing: Tracing, outcome: Outcome): (delivery: Delivery) => Promise<void> {
  const traced = traceTurns(tracing)
  const post: DeliverDeps['post'] = traced.post(async () => outcome)
  const report = traced.report(() => {})
  return traced.handle('delivery.due', async (delivery) => {
    const attempt = delivery.attempt + 1
    await post(delivery, attempt, undefined)
    const decision =
      outcome.kind === 'delivered'
        ? ({ kind: 'acknowledged' } as const)
        : ({ kind: 'retry', slot: 1, waitMs: 10 } as const)
    report(delivery, attemptOf(delivery, attempt, outcome), decision, outcome)
  })
}

const scenarios: Readonly<Record<string, (tracing: Tracing) => Promise<unknown>>> = {
  /** Input: the command's context. Result: the delivery's. */
  retried: async (tracing) => {
    const published: Delivery[] = []
    const publish = tracePublishDelivery(tracing, async (delivery) => void published.push(delivery))
    await publish(aDelivery({ traceparent: input }))
    const [delivery] = published as [Delivery]
    await worker(tracing, { kind: 'answered', status: 503 })(delivery)
    await worker(tracing, { kind: 'delivered', status: 204 })({ ...delivery, slot: 1, attempt: 1 })
    return delivery.traceparent
  },
  failures: async (tracing) => {
    await worker(tracing, { kind: 'unreachable', reason: 'timeout' })(aDelivery())
    const broken = traceTurns(tracing).handle('delivery.due', () => Promise.reject(new RangeError('no sockets')))
    return broken(aDelivery()).catch(String)
  },
  /** Input: a context that is continued. Result: what goes on. */
  continued: async (tracing) => {
    const span = tracing.begin({ name: 'continued', kind: 'server', parent: input })
    span.end()
    tracing.begin({ name: 'begun', kind: 'server', parent: undefined }).end()
    return span.traceparent
  },
  /** Input: the id of the first trace. */
  'two roots': async (tracing) => {
    tracing.begin({ name: 'of an event', kind: 'producer', parent: undefined, traceId: input }).end()
    tracing.begin({ name: 'other', kind: 'producer', parent: undefined }).end()
    return undefined
  },
  /** Works until it is told to stop by the end of its standard input. Result: how many turns. */
  load: async (tracing) => {
    const work = worker(tracing, { kind: 'delivered', status: 204 })
    const stdin = process.stdin.resume()
    let turns = 0
    for (; !stdin.readableEnded; turns++) {
      await work(aDelivery())
      await new Promise(setImmediate)
    }
    return turns
  },
}

const tracing = await openTracing({ config: loadConfig(workerFields, process.env), service: 'delivery-worker', log })
const result = await scenarios[name]?.(tracing)
const from = performance.now()
await tracing.close()
say({ result, closedMs: Math.round(performance.now() - from) })
process.exit(0)
