import { setTimeout as sleep } from 'node:timers/promises'
import { amqpAnswers } from '@switchhook/test-servers'
import { startReceiver } from '@switchhook/testkit'
import type { Bench } from '../bench.ts'
import { openClient } from '../load/client.ts'
import { keepPace } from '../load/pace.ts'
import { subscribe } from '../load/subscriptions.ts'
import { checkOutage, type OutageResult, type ReceivedEvent } from './check-outage.ts'
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
  const { stack, token, say, options, bringUp, defer } = bench
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
  const api = openClient(stack.urls.apis[0] ?? '', 32, token)
  defer(() => api.close())
  defer(await subscribe(stack, token, [receiver.url('/hook')]))
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
  const load = keepPace(
    CALLS_PER_SECOND,
    () => isOver,
    (n) => void turns.push(call(n)),
  )
  await sleep(BEFORE_MS)
  process.kill(broker.pid, 'SIGKILL')
  const diedAtMs = Date.now()
  say(`  the broker is away for ${options.OUTAGE / 1_000} s; calls come in all the same`)
  await sleep(options.OUTAGE)
  const starting = bringUp()
  while (!(await amqpAnswers(Number(new URL(stack.urls.amqp).port)))) await sleep(20)
  const returnedAtMs = Date.now()
  await Promise.all([starting, sleep(AFTER_MS)])
  isOver = true
  await load
  await Promise.all(turns)
  const result = await untilComplete(() => checkOutage(calls, told, diedAtMs, returnedAtMs))
  say(
    `  ${result.accepted} events accepted while it was away; first ${result.firstMs} ms after its return, all after ${result.allMs} ms; lost: ${result.lost}`,
  )
  return { awayMs: returnedAtMs - diedAtMs, refused, ...result }
}

/** Repeats until nothing is missing, or until missing events count as lost. */
async function untilComplete(check: () => OutageResult): Promise<OutageResult> {
  const startedAt = performance.now()
  for (;;) {
    const result = check()
    if (result.lost === 0 || performance.now() - startedAt > GIVE_UP_MS) return result
    await sleep(100)
  }
}
