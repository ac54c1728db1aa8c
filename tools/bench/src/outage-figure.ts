import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { amqpAnswers } from '@switchhook/backing'
import { openClient } from './client.ts'
import { AGENTS } from './commands-figure.ts'
import type { Bench } from './figures.ts'
import { judgeOutage, type OutageVerdict, postsPerSecond, type Told } from './judge-outage.ts'
import { keepPace } from './pace.ts'
import { subscribe } from './subscriptions.ts'

/** A call comes in, is answered and hung up: two commands, and what they cause. */
const CALLS_PER_SECOND = 10
const BEFORE_MS = 5_000
const AFTER_MS = 5_000
const GIVE_UP_MS = 120_000

export interface OutageFigure extends OutageVerdict {
  readonly awayMs: number
  readonly diedAfterMs: number
  readonly callsPerSecond: number
  /** Calls and commands that the api did not accept. */
  readonly refused: number
  /** POSTs in each second. */
  readonly perSecond: readonly (readonly [second: number, posts: number])[]
}

/**
 * The broker is killed while calls come in, and started again after a while: what was accepted meanwhile, and how soon all
 * of it was told. Undefined where the broker is not ours to kill.
 */
export async function measureOutage({ stack, token, say, options, bringUp }: Bench): Promise<OutageFigure | undefined> {
  const broker = stack.processes['rabbitmq']
  if (broker === undefined || stack.providers.rabbitmq !== 'local') {
    say('  not measured: the broker must be a process of this stack (BACKING=local), as it will be killed')
    return undefined
  }
  const told: Told[] = []
  const receiver = await openReceiver(told)
  const port = (receiver.address() as AddressInfo).port
  const unsubscribe = await subscribe(stack, token, [`http://127.0.0.1:${port}/hook`])
  const api = openClient(stack.urls.apis[0] ?? '', 32, token)
  const calls: string[] = []
  let refused = 0
  const turns: Promise<void>[] = []
  const call = async (n: number): Promise<void> => {
    const body = { agentUri: `sip:agent-${(n % AGENTS) + 1}@acme.example` }
    try {
      const { callId } = await api.post('/simulator/v1/calls', { ...body, from: '+15559000' })
      calls.push(String(callId))
      for (const name of ['answer', 'hangup']) await api.post(`/api/v1/voice/calls/${String(callId)}/${name}`, body)
    } catch (error) {
      refused += 1
      if (refused === 1) say(`  refused: ${String(error)}`)
    }
  }
  try {
    const beganAtMs = Date.now()
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
    const verdict = await untilTold(() => judgeOutage(calls, told, diedAtMs, returnedAtMs))
    say(
      `  ${verdict.accepted} events accepted while it was away; first ${verdict.firstMs} ms after its return, all after ${verdict.allMs} ms; lost: ${verdict.lost}`,
    )
    return {
      awayMs: returnedAtMs - diedAtMs,
      diedAfterMs: diedAtMs - beganAtMs,
      callsPerSecond: CALLS_PER_SECOND,
      refused,
      ...verdict,
      perSecond: postsPerSecond(told, beganAtMs),
    }
  } finally {
    await bringUp()
    await unsubscribe()
    await api.close()
    receiver.close()
  }
}

/** Keeps of each POST what it told, and when it came. */
async function openReceiver(told: Told[]): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Told, 'atMs'>
      told.push({ ...body, atMs: Date.now() })
      response.writeHead(204).end()
    })
  })
  server.keepAliveTimeout = 60_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** Asks until nothing is missing, or it is time to call it lost. */
async function untilTold(judge: () => OutageVerdict): Promise<OutageVerdict> {
  const startedAt = performance.now()
  for (;;) {
    const verdict = judge()
    if (verdict.lost === 0 || performance.now() - startedAt > GIVE_UP_MS) return verdict
    await sleep(100)
  }
}
