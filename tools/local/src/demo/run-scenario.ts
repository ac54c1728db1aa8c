import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
import { createApiClient, requestToken } from './api-client.ts'
import { claim } from './claim.ts'
import { aCallIsFollowed, anEndpointFails, aParkedDeliveryIsSentAgain, describeArrival } from './scenes.ts'
import type { Screen } from './screen.ts'
import { type Arrival, startSubscriber } from './subscriber.ts'
import { aCustomerIsTransferred } from './transfer-scene.ts'

/** A running stack to play on, and how its webhooks find this machine. */
export interface Theatre {
  readonly apiUrl: string
  readonly devIdpUrl: string
  /** The schedule that the workers were given. */
  readonly waitsMs: readonly number[]
  /** The name of this machine for the workers; without it they are on it. */
  readonly webhookHost?: string | undefined
}

/**
 * Plays the scenario, as a client that knows the service by its specification alone, and takes its subscriptions away again.
 * @param startedMs what starting the stack took, if that was part of it
 * @throws NotShown
 */
export async function play(theatre: Theatre, screen: Screen, startedMs?: number): Promise<void> {
  const { apiUrl, devIdpUrl, waitsMs, webhookHost } = theatre
  const beganAt = Date.now()
  const subscriber = await startSubscriber((arrival) => screen.row(describeArrival(arrival, beganAt)), webhookHost)
  try {
    screen.scene('A client gets a token from its identity provider')
    const [{ tenant, clientId, clientSecret }] = DEV_TENANTS
    const { tokenUrl } = addressesOf(devIdpUrl, tenant)
    const accessToken = await screen.exchange(`POST /${tenant}/oauth2/v2.0/token`, async () => {
      const token = await requestToken(tokenUrl, { clientId, clientSecret, scope: DEV_SCOPE })
      return {
        status: 200,
        detail: `${clientId} of ${tenant}, good for ${token.expiresInS} s`,
        value: token.accessToken,
      }
    })

    const api = createApiClient(apiUrl, accessToken, screen)
    const stage = { api, subscriber, screen, waitsMs }
    await aCallIsFollowed(stage)
    await aCustomerIsTransferred(stage)
    const { parked, subscriptionIds } = await anEndpointFails(stage)
    await aParkedDeliveryIsSentAgain(stage, parked)
    for (const id of subscriptionIds) await api.unsubscribe(id)
    summarise(subscriber.arrivals(), screen, { startedMs, playMs: Date.now() - beganAt })
  } finally {
    await subscriber.close()
  }
}

function summarise(
  arrivals: readonly Arrival[],
  screen: Screen,
  took: { readonly startedMs: number | undefined; readonly playMs: number },
): void {
  const firsts = arrivals.filter(({ attempt }) => attempt === 1)
  const acknowledged = arrivals.filter(({ answer }) => answer < 300)
  const latencies = firsts
    .map(({ at, envelope }) => at - Date.parse(envelope.occurredAt))
    .toSorted((one, other) => one - other)
  claim(
    new Set(acknowledged.map(({ deliveryId }) => deliveryId)).size === firsts.length,
    'every delivery was acknowledged in the end',
  )
  claim(acknowledged.length === firsts.length, 'nothing was delivered twice')
  screen.table('Summary', [
    ['deliveries', `${firsts.length}, every one acknowledged in the end, none twice`],
    ['POSTs', `${arrivals.length}, of which ${arrivals.length - firsts.length} after a failure`],
    [
      'from event to endpoint',
      `median ${latencies[Math.floor(latencies.length / 2)]} ms, longest ${latencies.at(-1)} ms`,
    ],
    [
      'time',
      [
        ...(took.startedMs === undefined ? [] : [`${(took.startedMs / 1_000).toFixed(1)} s to start`]),
        `${(took.playMs / 1_000).toFixed(1)} s to play`,
      ].join(', '),
    ],
  ])
}
