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
    call: (options: CallOptions) => Promise<T>,
    describe: (value: T) => string,
  ): Promise<T> =>
    screen.request(request, async () => {
      let status = 0
      const value = await call({ onAnswer: (answer) => (status = answer.status) })
      return { status, detail: describe(value), value }
    })

  return {
    command: (callId: string, name: 'answer' | 'hold' | 'resume' | 'hangup', agentUri: string) =>
      shown(
        `POST /api/v1/voice/calls/{callId}/${name}`,
        (options) => calls[name](callId, { agentUri }, options),
        () => agentUri,
      ),
    transfer: (callId: string, agentUri: string, transferTarget: string) =>
      shown(
        'POST /api/v1/voice/calls/{callId}/transfer',
        (options) => calls.transfer(callId, { agentUri, transferTarget }, options),
        () => `${agentUri} → ${transferTarget}`,
      ),
    subscribe: (url: string, eventTypes: Schemas['NewSubscription']['eventTypes']) =>
      shown(
        'POST /api/v1/webhooks/subscriptions',
        (options) => subscriptions.create({ url, eventTypes }, options),
        () => `${eventTypes.join(', ')} → ${url}`,
      ),
    unsubscribe: (id: string) =>
      shown(
        'DELETE /api/v1/webhooks/subscriptions/{id}',
        (options) => subscriptions.delete(id, options),
        () => 'new deliveries stop',
      ),
    dial: (agentUri: string, destination: string) =>
      shown(
        'POST /api/v1/voice/calls/dial',
        async (options) => (await calls.dial({ agentUri, destination }, options)).callId,
        (callId) => `${agentUri} dials ${destination}: call ${callId}`,
      ),
    setPresence: (agentUri: string, given: Schemas['PresenceSetting']) =>
      shown(
        'POST /api/v1/voice/agents/{agentUri}/presence',
        (options) => agents.setPresence(agentUri, given, options),
        () => `${agentUri}: ${JSON.stringify(given)}`,
      ),
    /** Makes an inbound call; only the simulated contact center can do this. */
    ring: (agentUri: string, from: string) =>
      shown(
        'POST /simulator/v1/calls',
        async (options) => (await simulator.call({ agentUri, from }, options)).callId,
        () => `${from} calls ${agentUri}`,
      ),
    redeliver: (id: string) =>
      shown(
        'POST /api/v1/webhooks/deliveries/{id}/redeliver',
        (options) => deliveries.redeliver(id, options),
        () => 'sent again, with the same id and body',
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
