import { type Attempt, type Delivery, newTraceparent, type Outcome } from '@switchhook/contracts'
import { loadConfig, openTracing, type Tracing, tracePublishDelivery } from '@switchhook/runtime'
import { workerFields } from '../config.ts'
import { createDeliverySpans } from '../reporting/delivery-spans.ts'
import { aDelivery } from './deliveries.ts'

/**
 * Runs one scenario in a separate process, because Jest cannot load the exporter's modules. Arguments: the scenario's name
 * and its input. Each line of output is a logged line; the last one is the result.
 */
const [, , name = '', input = ''] = process.argv
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const log = { error: say, warn: say, info: say, debug: say }

const tracedDelivery = (change: Partial<Delivery> = {}): Delivery =>
  aDelivery({
    url: 'https://client.example:8443/hook?token=secret',
    traceparent: newTraceparent(),
    body: Buffer.from('{"data":"private"}'),
    ...change,
  })

const attemptOf = ({ run, slot }: Delivery, attempt: number, outcome: Outcome): Attempt => ({
  run,
  slot,
  attempt,
  at: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  outcome: outcome.kind === 'unreachable' ? outcome.reason : outcome.kind,
  status: outcome.kind === 'unreachable' ? null : outcome.status,
})

/** A worker reduced to the steps that have spans. */
function worker(tracing: Tracing, outcome: Outcome): (delivery: Delivery) => Promise<void> {
  const { handle, listener } = createDeliverySpans(tracing)
  return handle('delivery.due', async (delivery) => {
    const attempt = delivery.attempt + 1
    const ended = listener.posting?.(delivery, attempt)
    await new Promise(setImmediate)
    ended?.({ kind: 'posted', delivery, outcome })
    const decision =
      outcome.kind === 'delivered'
        ? ({ kind: 'acknowledged' } as const)
        : ({ kind: 'retry', slot: 1, waitMs: 10 } as const)
    listener.concluded?.(delivery, attemptOf(delivery, attempt, outcome), decision, outcome)
  })
}

const scenarios: Readonly<Record<string, (tracing: Tracing) => Promise<unknown>>> = {
  /** Input: the context of the command. Result: the context of the delivery. */
  retried: async (tracing) => {
    const published: Delivery[] = []
    const publish = tracePublishDelivery(tracing, async (delivery) => void published.push(delivery))
    await publish(tracedDelivery({ traceparent: input }))
    const [delivery] = published as [Delivery]
    await worker(tracing, { kind: 'answered', status: 503 })(delivery)
    await worker(tracing, { kind: 'delivered', status: 204 })({ ...delivery, slot: 1, attempt: 1 })
    return delivery.traceparent
  },
  failures: async (tracing) => {
    await worker(tracing, { kind: 'unreachable', reason: 'timeout' })(tracedDelivery())
    const broken = createDeliverySpans(tracing).handle('delivery.due', () =>
      Promise.reject(new RangeError('no sockets')),
    )
    return broken(tracedDelivery()).catch(String)
  },
  /** Input: a context to continue. Result: the context of the span. */
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
  /** Handles deliveries until the standard input ends. Result: how many. */
  load: async (tracing) => {
    const work = worker(tracing, { kind: 'delivered', status: 204 })
    const stdin = process.stdin.resume()
    let handled = 0
    for (; !stdin.readableEnded; handled++) {
      await work(tracedDelivery())
    }
    return handled
  },
}

const tracing = await openTracing({ config: loadConfig(workerFields, process.env), service: 'delivery-worker', log })
const result = await scenarios[name]?.(tracing)
const from = performance.now()
await tracing.close()
say({ result, closedMs: Math.round(performance.now() - from) })
process.exit(0)
