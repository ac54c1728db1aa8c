import { join } from 'node:path'
import { createClient } from '@switchhook/client'
import { DEV_TENANTS, requestToken } from '@switchhook/dev-idp'
import { ownEnvironment, repository, runCommand } from '@switchhook/test-servers'
import { type Customer, createCustomer } from './customer.ts'
import { aCallIsFollowed, anEndpointFails, aParkedDeliveryIsSentAgain, describeArrival } from './scenes.ts'
import type { Screen } from './screen.ts'
import { type Arrival, startSubscriber } from './subscriber.ts'
import { aCustomerIsTransferred } from './transfer-scene.ts'
import { verify } from './verify.ts'

const SWITCHHOOK = join(repository, 'packages/products/cli/bin/switchhook.js')

/** A running stack, and how its webhooks reach this machine. */
export interface DemoTarget {
  readonly apiUrl: string
  readonly devIdpUrl: string
  /** The retry schedule of the workers. */
  readonly waitsMs: readonly number[]
  /** The name by which the workers reach this machine; undefined if they run on it. */
  readonly webhookHost?: string | undefined
  /** The control of real phones; null: the contact center is simulated. */
  readonly telephonesUrl?: string | null
}

/**
 * Runs the scenario as a client that uses only the public API, then deletes its subscriptions.
 * @param startedMs time to start the stack, if the demo started it
 * @throws StepFailed
 */
export async function runScenario(target: DemoTarget, screen: Screen, startedMs?: number): Promise<void> {
  const { apiUrl, devIdpUrl, waitsMs, webhookHost, telephonesUrl = null } = target
  const beganAt = Date.now()
  await using subscriber = await startSubscriber(
    (arrival) => screen.row(describeArrival(arrival, beganAt)),
    webhookHost,
  )
  screen.scene('A client gets a token from its identity provider')
  const [client] = DEV_TENANTS
  const { tenant, clientId } = client
  const accessToken = await screen.request(`POST /${tenant}/oauth2/v2.0/token`, async () => {
    const token = await requestToken(devIdpUrl, client)
    return { status: 200, detail: `${clientId} of ${tenant}, valid for ${lifetimeOf(token)} s`, value: token }
  })

  const api = createClient({ baseUrl: apiUrl, auth: async () => accessToken, maxRetries: 0, fetch: screen.fetch })
  const customer: Customer =
    telephonesUrl === null
      ? {
          calls: async (agentUri, from) => (await api.simulator.call({ agentUri, from })).callId,
          verifyQuiet: async () => {},
        }
      : createCustomer(telephonesUrl, screen, subscriber)
  const env = { ...ownEnvironment(), SWITCHHOOK_URL: apiUrl, SWITCHHOOK_TOKEN: accessToken }
  const explain = async (deliveryId: string): Promise<readonly string[]> => {
    const { ok, stdout, output } = await runCommand(process.execPath, [SWITCHHOOK, 'explain', deliveryId], { env })
    verify(ok, `switchhook explain answers\n${output}`)
    return stdout.trimEnd().split('\n')
  }
  const context = { api, subscriber, screen, waitsMs, customer, explain }
  await aCallIsFollowed(context)
  await aCustomerIsTransferred(context)
  const { parked, subscriptionIds } = await anEndpointFails(context)
  await aParkedDeliveryIsSentAgain(context, parked)
  for (const id of subscriptionIds) await api.subscriptions.delete(id)
  await customer.verifyQuiet()
  summarise(subscriber.arrivals(), screen, [
    ...(startedMs === undefined ? [] : [`${secondsOf(startedMs)} s to start`]),
    `${secondsOf(Date.now() - beganAt)} s for the scenario`,
  ])
}

function summarise(arrivals: readonly Arrival[], screen: Screen, took: readonly string[]): void {
  const firsts = arrivals.filter(({ attempt }) => attempt === 1)
  const acknowledged = arrivals.filter(({ answer }) => answer < 300)
  const latencies = firsts
    .map(({ at, envelope }) => at - Date.parse(envelope.occurredAt))
    .toSorted((one, other) => one - other)
  const deliveries = new Set(acknowledged.map(({ deliveryId }) => deliveryId))
  verify(deliveries.size === firsts.length, 'every delivery was acknowledged in the end')
  verify(acknowledged.length === firsts.length, 'nothing was delivered twice')
  const median = latencies[Math.floor(latencies.length / 2)]
  screen.table('Summary', [
    ['deliveries', `${firsts.length}, all acknowledged, no duplicates`],
    ['POSTs', `${arrivals.length}, including ${arrivals.length - firsts.length} after a failure`],
    ['from event to endpoint', `median ${median} ms, longest ${latencies.at(-1)} ms`],
    ['time', took.join(', ')],
  ])
}

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(1)

/** The seconds for which a token is valid. */
function lifetimeOf(token: string): number {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const { exp, iat } = JSON.parse(claims) as { readonly exp: number; readonly iat: number }
  return exp - iat
}
