import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Bench } from '../bench.ts'
import { keepPace } from './arrivals.ts'
import { subscribe } from './client.ts'
import { openChannel, publishEvent, timedData } from './events.ts'

/** Somebody who does harm: until the part is over. Resolves once the harm is being done. */
type Harm = (part: Bench) => Promise<void>

const TENANT = 'tenant-30'
/** Reaches its limit of bytes, so that it can create no more. */
const FILLED_TENANT = 'tenant-29'
const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
/** What a client keeps open, and how often it sends. */
const CONNECTIONS = 30
const REQUESTS_AHEAD = 2_400
const AHEAD_EVERY_MS = 1_000
/** Just below the longest headers that Node reads. */
const LONG_TYPE = `application/json;${' '.repeat(15_000)}x`
const AGAIN_AFTER_MS = 50

/** Runs `work` this many times at once, again and again, until the part is over. Failures are part of the harm. */
function keepDoing(part: Bench, times: number, work: () => Promise<unknown>): void {
  const over = new AbortController()
  const loop = async (): Promise<void> => {
    while (!over.signal.aborted) await work().catch(() => sleep(AGAIN_AFTER_MS))
  }
  const loops = Array.from({ length: times }, loop)
  part.defer(async () => {
    over.abort()
    await Promise.all(loops)
  })
}

/** Requests of the harmful tenant. Each resolves once its answer is read, whatever it is. */
async function openRequests(part: Bench, tenant = TENANT) {
  const pool = new Pool(part.stack.urls.apis[0] ?? '', { connections: CONNECTIONS, pipelining: 1 })
  part.defer(() => pool.close())
  const authorization = `Bearer ${await part.tokenOf(tenant)}`
  return async (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: object,
    headers: object = {},
  ): Promise<string> => {
    const own = { authorization, 'content-type': 'application/json', ...headers }
    const sent = body === undefined ? null : JSON.stringify(body)
    const { body: answer } = await pool.request({ method, path, headers: own, body: sent })
    return await answer.text()
  }
}

/** As large as a subscription may be. */
const largest = () => ({
  url: `http://127.0.0.1/${'u'.repeat(2_000)}`,
  description: 'd'.repeat(1_000),
  eventTypes: ['call.status'],
  filter: { 'call.status': { agentUri: Array.from({ length: 14 }, (_, n) => `sip:${n}${'a'.repeat(240)}`) } },
})

const sendAhead: Harm = async (part) => {
  const { hostname, port } = new URL(part.stack.urls.apis[0] ?? '')
  keepDoing(part, CONNECTIONS, async () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(`GET /x HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(REQUESTS_AHEAD))
    // Its answers are not read.
    await sleep(AHEAD_EVERY_MS)
    socket.destroy()
  })
}

const longContentTypes: Harm = async (part) => {
  const request = await openRequests(part)
  keepDoing(part, 4, () => request('POST', SUBSCRIPTIONS, {}, { 'content-type': LONG_TYPE }))
}

const largeSubscriptions: Harm = async (part) => {
  const request = await openRequests(part, FILLED_TENANT)
  keepDoing(part, 8, () => request('POST', SUBSCRIPTIONS, largest()))
  keepDoing(part, 10, () => request('GET', `${SUBSCRIPTIONS}?limit=1000`))
}

const keptAnswers: Harm = async (part) => {
  const request = await openRequests(part)
  const { id } = JSON.parse(await request('POST', SUBSCRIPTIONS, largest())) as { readonly id: string }
  keepDoing(part, 8, () =>
    request('PATCH', `${SUBSCRIPTIONS}/${id}`, { description: 'e' }, { 'idempotency-key': randomUUID() }),
  )
}

export interface Rarely {
  readonly tenant: string
  readonly urls: readonly string[]
  readonly perSecond: number
}

/** Each event becomes one delivery, for one of the endpoints in turn. */
export async function deliverInTurn(part: Bench, { tenant, urls, perSecond }: Rarely): Promise<void> {
  const agentOf = (n: number): string => `sip:${n % urls.length}@harm.example`
  const channel = await openChannel(part)
  await subscribe(part, urls, { tenant }, (n) => ({ filter: { 'call.status': { agentUri: [agentOf(n)] } } }))
  let isOver = false
  const sending = keepPace(
    perSecond,
    () => isOver,
    (n) => publishEvent(channel, 'call.status', { ...timedData(n), agentUri: agentOf(n) }, tenant),
  )
  part.defer(async () => {
    isOver = true
    await sending
  })
}

const ENDPOINTS = 150
const PER_SECOND = 100
const NAMES = 50

/**
 * Each kind of harm, by what it does.
 * @param rarely urls that answer one POST in four
 */
export const harms = (rarely: readonly string[]): Readonly<Record<string, Harm>> => ({
  'requests sent ahead, without a token': sendAhead,
  'Content-Type of 15 KB': longContentTypes,
  'largest subscriptions, created and listed': largeSubscriptions,
  'answers kept for an Idempotency-Key': keptAnswers,
  [`${ENDPOINTS} endpoints that answer one POST in four`]: (part) =>
    deliverInTurn(part, { tenant: TENANT, urls: rarely.slice(0, ENDPOINTS), perSecond: PER_SECOND }),
  [`${NAMES} names without an answer`]: (part) => {
    const urls = Array.from({ length: NAMES }, (_, n) => `http://silent-${n}.example/hook`)
    return deliverInTurn(part, { tenant: TENANT, urls, perSecond: PER_SECOND })
  },
})
