import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Client, envelopeOf, openClient } from './client.ts'
import { readStack } from './stack.ts'

/** The fields of a `call.status` that the tests read. */
export interface CallStatus {
  readonly callId: string
  readonly agentUri: string
  readonly state: number
  readonly previousState: number
  readonly sequence: number
  readonly direction: number
  readonly internal: boolean
  readonly role: number
  readonly remoteParty: { readonly uri: string; readonly number: string | null; readonly type: number }
  readonly cli: string | null
  readonly correlationId: string | null
  readonly commandId: string | null
  readonly held: boolean
  readonly remoteHeld: boolean
  readonly endReason: number
  readonly endedBy: number
  readonly transfer: {
    readonly blind: boolean
    readonly target: string
    readonly role: number
    readonly status: number
    readonly failReason: number
    readonly otherCallId: string | null
  } | null
  readonly consultation: { readonly callId?: string; readonly target?: string; readonly forCallId?: string } | null
  readonly commandResult: { readonly command: number; readonly result: number; readonly reason: number } | null
}

/** The answer to a command. */
export type Accepted = Schemas['TransferAccepted']

type Command = Accepted['command']

/**
 * A client application for an agent's desktop: it sends commands, alternating between the two api replicas, and learns
 * their results from its webhooks only.
 */
export interface Desk {
  readonly client: Client
  /**
   * @param path `dial`, or `<call id>/<command>`
   * @throws if the command is refused
   */
  command(path: string, body: object, idempotencyKey?: string): Promise<Accepted>
  /** Sends a command as it is, which must be refused, and returns its problem. */
  refused(path: string, body: object): Promise<{ status: number; code: string }>
  /** The events of a leg so far, in order of their sequence, without duplicates. */
  leg(callId: string, agentUri: string): readonly CallStatus[]
  /** Resolves to the leg's latest event once it satisfies `wanted`. */
  until(callId: string, agentUri: string, wanted: (latest: CallStatus) => boolean): Promise<CallStatus>
  /** The events of an agent so far, in order of their sequence. */
  agent(agentUri: string): readonly Record<string, unknown>[]
  /** @throws if a received webhook does not match the AsyncAPI document */
  close(): Promise<void>
}

export async function openDesk(tenant: 'acme' | 'globex' = 'acme'): Promise<Desk> {
  const clients = await Promise.all([openClient(tenant, 0), openClient(tenant, 1)])
  const receiver: Receiver = await startReceiver()
  const subscription = await clients[0].subscribe(receiver.url('/desk'), ['call.status', 'agent.status'])
  let sent = 0
  const next = (): Client => clients[sent++ % 2] ?? clients[0]

  function eventsOf<T extends { sequence: number }>(
    fits: (data: Record<string, unknown>, type: string) => boolean,
  ): T[] {
    const bySequence = new Map<number, T>()
    for (const request of receiver.requests('/desk')) {
      const { data, eventType } = envelopeOf(request)
      if (fits(data, eventType)) bySequence.set(Number(data['sequence']), data as unknown as T)
    }
    return [...bySequence.values()].toSorted((a, b) => a.sequence - b.sequence)
  }

  const leg = (callId: string, agentUri: string): CallStatus[] =>
    eventsOf<CallStatus>(
      (data, type) => type === 'call.status' && data['callId'] === callId && data['agentUri'] === agentUri,
    )

  return {
    client: clients[0],
    command: (path, body, idempotencyKey) => {
      const { calls } = next().api
      const [command, callId] = path.split('/').toReversed() as ['dial'] | [Exclude<Command, 'dial'>, string]
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      if (command === 'dial') return calls.dial(body as Schemas['DialCommand'], options)
      return calls[command](callId, body as Schemas['TransferCommand'], options)
    },
    refused: async (path, body) =>
      (await next().request<{ status: number; code: string }>('POST', `/voice/calls/${path}`, body)).body,
    leg,
    until: (callId, agentUri, wanted) =>
      eventually(() => {
        const events = leg(callId, agentUri)
        const latest = events.at(-1)
        const isGapless = events.every(({ sequence }, at) => sequence === at + 1)
        if (latest === undefined || !isGapless || !wanted(latest)) {
          throw new Error(`the leg is not in the wanted state yet: ${JSON.stringify(events.map(({ state }) => state))}`)
        }
        return latest
      }),
    agent: (agentUri) => eventsOf((data, type) => type === 'agent.status' && data['agentUri'] === agentUri),
    close: async () => {
      await clients[0].unsubscribe(subscription.id)
      await receiver.close()
      const isDocumented = await openEventsDocument()
      for (const request of receiver.requests('/desk')) {
        const envelope = envelopeOf(request)
        isDocumented(envelope.eventType, envelope)
      }
    },
  }
}

/** Makes an inbound call to an agent, with the simulator's own API. */
export async function ring(agentUri: string, from = '+15559000', more: object = {}): Promise<string> {
  const { callId } = await simulate<{ callId: string }>('calls', { agentUri, from, ...more })
  return callId
}

/** Makes the far end of a call act. */
export const remotely = (callId: string, action: 'answer' | 'hangup' | 'hold' | 'resume'): Promise<unknown> =>
  simulate(`calls/${callId}/remote`, { action })

/** Takes an agent's device offline or online. */
export const setDevice = (agentUri: string, online: boolean): Promise<unknown> =>
  simulate(`agents/${encodeURIComponent(agentUri)}/device`, { online })

async function simulate<T>(path: string, body: object): Promise<T> {
  const response = await fetch(`${readStack().urls.apis[1]}/simulator/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`simulator: ${path} answered ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const states = (events: readonly CallStatus[]): number[] => events.map(({ state }) => state)

const MESSAGES: Readonly<Record<string, string>> = { 'call.status': 'callStatus', 'agent.status': 'agentStatus' }

/** Loads the AsyncAPI document from the api. Returns a function that throws if a webhook does not match it. */
async function openEventsDocument(): Promise<(eventType: string, envelope: unknown) => void> {
  const response = await fetch(`${readStack().urls.apis[0]}/api/v1/asyncapi.json`)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema((await response.json()) as object, 'asyncapi.json')
  const checks = new Map<string, ValidateFunction>()
  for (const [eventType, name] of Object.entries(MESSAGES)) {
    checks.set(eventType, ajv.compile({ $ref: `asyncapi.json#/components/messages/${name}/payload` }))
  }
  return (eventType, envelope) => {
    const isDocumented = checks.get(eventType)
    if (isDocumented === undefined) throw new Error(`the AsyncAPI document has no ${eventType}`)
    if (!isDocumented(envelope))
      throw new Error(`does not match the AsyncAPI document: ${ajv.errorsText(isDocumented.errors)}`)
  }
}
