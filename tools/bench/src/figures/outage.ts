import { setTimeout as sleep } from 'node:timers/promises'
import { type CallEvent, checkCalls } from '@switchhook/local'
import { amqpAnswers, waitUntil } from '@switchhook/test-servers'
import { startReceiver } from '@switchhook/testkit'
import type { Bench } from '../bench.ts'
import { keepPace } from '../load/arrivals.ts'
import { openApi, subscribe } from '../load/client.ts'
import { agentUri } from './commands.ts'

/** An incoming call is answered and hung up: two commands. */
const CALLS_PER_SECOND = 10
const BEFORE_MS = 5_000
const AFTER_MS = 5_000
const GIVE_UP_MS = 120_000

/**
 * Kills the broker under load and starts it again later. Measures what the api accepted meanwhile and when all of it was
 * delivered. Undefined where the broker does not belong to the stack.
 */
export async function measureOutage(bench: Bench) {
  const { stack, say, options, bringUp, defer } = bench
  const broker = stack.processes['rabbitmq']
  if (broker === undefined || stack.providers.rabbitmq !== 'local') {
    say('  not measured: the broker must be a process of this stack (BACKING=local), as it will be killed')
    return undefined
  }
  const told: ReceivedEvent[] = []
  const receiver = await startReceiver(({ body, receivedAt: atMs }) => {
    told.push({ ...(JSON.parse(body.toString()) as Omit<ReceivedEvent, 'atMs'>), atMs })
    return {}
  })
  defer(() => receiver.close())
  const api = await openApi(bench, 32)
  await subscribe(bench, [receiver.url('/hook')])
  defer(() => bringUp())
  const calls: string[] = []
  let refused = 0
  const turns: Promise<void>[] = []
  const call = async (n: number): Promise<void> => {
    const body = { agentUri: agentUri(n) }
    try {
      const { callId } = await api.post('/simulator/v1/calls', { ...body, from: '+15559000' })
      calls.push(String(callId))
      for (const name of ['answer', 'hangup']) await api.post(`/api/v1/voice/calls/${String(callId)}/${name}`, body)
    } catch (error) {
      refused += 1
      if (refused === 1) say(`  refused: ${String(error)}`)
    }
  }

  let isOver = false
  // If it fails, the load ends with it.
  defer(() => (isOver = true))
  const begin = (n: number): void => void turns.push(call(n))
  const load = keepPace(CALLS_PER_SECOND, () => isOver, begin)
  await sleep(BEFORE_MS)
  process.kill(broker.pid, 'SIGKILL')
  const diedAtMs = Date.now()
  say(`  the broker is away for ${options.OUTAGE / 1_000} s; calls come in all the same`)
  await sleep(options.OUTAGE)
  const returned = async (): Promise<number> => {
    const answers = waitUntil(() => amqpAnswers(Number(new URL(stack.urls.amqp).port)), GIVE_UP_MS, 20)
    if (!(await answers)) throw new Error('the broker does not answer after its start')
    return Date.now()
  }
  const [returnedAtMs] = await Promise.all([returned(), bringUp()])
  await sleep(AFTER_MS)
  isOver = true
  await load
  await Promise.all(turns)
  // From then on, missing events count as lost.
  await waitUntil(() => checkCalls(calls, told).unfinished === 0, GIVE_UP_MS, 100)
  return { awayMs: returnedAtMs - diedAtMs, refused, ...checkOutage(calls, told, diedAtMs, returnedAtMs) }
}

/** A `call.status` event that an endpoint received. */
export interface ReceivedEvent extends CallEvent {
  /** ISO 8601. */
  readonly occurredAt: string
  /** Arrival of its POST, ms since 1970. */
  readonly atMs: number
}

/** Effect of an outage on the events of the calls. */
export function checkOutage(
  calls: readonly string[],
  told: readonly ReceivedEvent[],
  diedAtMs: number,
  returnedAtMs: number,
) {
  const byDelivery = new Map(told.toReversed().map((event) => [event.deliveryId, event]))
  const events = [...byDelivery.values()]
  const occurredMs = ({ occurredAt }: ReceivedEvent): number => Date.parse(occurredAt)
  const after = events.filter(({ atMs }) => atMs >= returnedAtMs)
  const late = after.filter((event) => occurredMs(event) < returnedAtMs).map(({ atMs }) => atMs - returnedAtMs)
  const { unfinished, twice } = checkCalls(calls, told)
  return {
    /** Calls that the api accepted before, during and after the outage. */
    calls: calls.length,
    /** Events that occurred during the outage. */
    accepted: events.filter((event) => occurredMs(event) >= diedAtMs && occurredMs(event) < returnedAtMs).length,
    /** From the broker's return to the first POST, and to the last POST of events that occurred before the return. */
    firstMs: late.reduce((least, ms) => Math.min(least, ms), late[0] ?? 0),
    allMs: late.reduce((most, ms) => Math.max(most, ms), 0),
    /** Calls of which an event is missing. */
    lost: unfinished,
    /** Deliveries that arrived more than once. */
    repeated: twice,
  }
}
