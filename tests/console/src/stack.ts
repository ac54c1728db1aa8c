import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { eventually } from '@switchhook/testkit'
import { connect } from 'amqplib'

/** The fields of `stack.json` that the tests read. */
interface Stack {
  readonly urls: { readonly api: string; readonly devIdp: string; readonly amqp: string }
  readonly processes: Readonly<Record<string, { readonly pid: number }>>
}

export function readStack(): Stack {
  const home = process.env['CONSOLE_TESTS_HOME']
  if (home === undefined) throw new Error('the stack of the console tests has no home')
  return JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as Stack
}

type Tenant = 'acme' | 'globex'

const tokens = new Map<Tenant, string>()

async function tokenOf(tenant: Tenant): Promise<string> {
  const known = tokens.get(tenant)
  if (known !== undefined) return known
  const response = await fetch(`${readStack().urls.devIdp}/${tenant}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: `${tenant}-app`,
      client_secret: `${tenant}-secret`,
      scope: 'switchhook/.default',
    }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  tokens.set(tenant, token)
  return token
}

/** What an application does, for the scenes that a person then looks at. Fails unless the answer is 2xx. */
export async function call<T>(method: string, path: string, body?: object, tenant: Tenant = 'acme'): Promise<T> {
  const response = await fetch(`${readStack().urls.api}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await tokenOf(tenant)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const subscribe = (url: string, description: string, tenant: Tenant = 'acme', eventTypes = ['call.status']) =>
  call<{ readonly id: string }>('POST', '/api/v1/webhooks/subscriptions', { url, description, eventTypes }, tenant)

export const ring = (agentUri: string, from: string, tenant: Tenant = 'acme') =>
  call<{ readonly callId: string }>('POST', '/simulator/v1/calls', { agentUri, from }, tenant)

export const hangUp = (callId: string, agentUri: string, tenant: Tenant = 'acme') =>
  call('POST', `/api/v1/voice/calls/${callId}/hangup`, { agentUri }, tenant)

export async function callAndHangUp(agentUri: string, from: string, tenant: Tenant = 'acme'): Promise<void> {
  const { callId } = await ring(agentUri, from, tenant)
  await call('POST', `/api/v1/voice/calls/${callId}/answer`, { agentUri }, tenant)
  await eventually(() => hangUp(callId, agentUri, tenant))
}

interface Pace {
  readonly everyMs?: number
  /** Ends the publishing early. */
  readonly until?: AbortSignal
}

/**
 * Publishes events on the public exchange, as any platform can. Resolves to the id of the last one, once the broker has
 * stored them.
 */
export async function publishEvents(count: number, tenant: Tenant, { everyMs = 0, until }: Pace = {}): Promise<string> {
  let eventId = ''
  const model = await connect(readStack().urls.amqp)
  const channel = await model.createConfirmChannel()
  for (let n = 0; n < count; n++) {
    if (until?.aborted) break
    if (everyMs > 0) await setTimeout(everyMs)
    const data = { callId: randomUUID(), agentUri: `sip:agent-${n}@${tenant}.example`, state: 2, sequence: 1 }
    eventId = randomUUID()
    const event = {
      eventId,
      eventType: 'call.status',
      occurredAt: new Date().toISOString(),
      tenant,
      data,
    }
    const options = {
      persistent: true,
      contentType: 'application/json',
      type: event.eventType,
      messageId: event.eventId,
    }
    channel.publish('switchhook.events', event.eventType, Buffer.from(JSON.stringify(event)), options)
  }
  await channel.waitForConfirms()
  await model.close()
  return eventId
}
