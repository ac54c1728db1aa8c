import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type CallOptions, createClient, type Schemas } from '@switchhook/client'
import { repository } from '@switchhook/test-servers'
import type { Screen } from './screen.ts'

export type ParkedDelivery = Schemas['DeliverySummary']

const SWITCHHOOK = join(repository, 'packages/cli/bin/switchhook.js')

export type ApiClient = ReturnType<typeof createApiClient>

/** A client that uses the REST API only. Shows each request that changes something, and its status, on the screen. */
export function createApiClient(baseUrl: string, token: string, screen: Screen) {
  const { subscriptions, deliveries, calls, agents, simulator } = createClient({
    baseUrl,
    auth: async () => token,
    maxRetries: 0,
  })

  const shown = <T>(
    request: string,
    detail: string | ((value: T) => string),
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> =>
    screen.request(request, async () => {
      let status = 0
      const value = await call({ onAnswer: (answer) => (status = answer.status) })
      return { status, detail: typeof detail === 'string' ? detail : detail(value), value }
    })
  const voice = '/api/v1/voice'
  const webhooks = '/api/v1/webhooks'

  return {
    command: (callId: string, name: 'answer' | 'hold' | 'resume' | 'hangup', agentUri: string) =>
      shown(`POST ${voice}/calls/{callId}/${name}`, agentUri, (options) => calls[name](callId, { agentUri }, options)),
    transfer: (callId: string, agentUri: string, transferTarget: string) =>
      shown(`POST ${voice}/calls/{callId}/transfer`, `${agentUri} → ${transferTarget}`, (options) =>
        calls.transfer(callId, { agentUri, transferTarget }, options),
      ),
    subscribe: (url: string, eventTypes: Schemas['NewSubscription']['eventTypes']) =>
      shown(`POST ${webhooks}/subscriptions`, `${eventTypes.join(', ')} → ${url}`, (options) =>
        subscriptions.create({ url, eventTypes }, options),
      ),
    unsubscribe: (id: string) =>
      shown(`DELETE ${webhooks}/subscriptions/{id}`, 'new deliveries stop', (options) =>
        subscriptions.delete(id, options),
      ),
    dial: (agentUri: string, destination: string) =>
      shown(
        `POST ${voice}/calls/dial`,
        (callId: string) => `${agentUri} dials ${destination}: call ${callId}`,
        async (options) => (await calls.dial({ agentUri, destination }, options)).callId,
      ),
    setPresence: (agentUri: string, given: Schemas['PresenceSetting']) =>
      shown(`POST ${voice}/agents/{agentUri}/presence`, `${agentUri}: ${JSON.stringify(given)}`, (options) =>
        agents.setPresence(agentUri, given, options),
      ),
    /** Makes an inbound call; only the simulated contact center can do this. */
    ring: (agentUri: string, from: string) =>
      shown('POST /simulator/v1/calls', `${from} calls ${agentUri}`, async (options) => {
        return (await simulator.call({ agentUri, from }, options)).callId
      }),
    redeliver: (id: string) =>
      shown(`POST ${webhooks}/deliveries/{id}/redeliver`, 'sent again, with the same id and body', (options) =>
        deliveries.redeliver(id, options),
      ),
    parked: async (id: string) => (await subscriptions.deliveries(id, { state: 'parked' }).page()).items,
    /** The lines that the command line prints. */
    commandLine: async (...args: readonly string[]): Promise<readonly string[]> => {
      const env = { ...process.env, SWITCHHOOK_URL: baseUrl, SWITCHHOOK_TOKEN: token }
      const { stdout } = await promisify(execFile)(process.execPath, [SWITCHHOOK, ...args], { env })
      return stdout.trimEnd().split('\n')
    },
    delivery: (id: string) => deliveries.read(id),
  }
}
