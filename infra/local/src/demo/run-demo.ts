import { once } from 'node:events'
import { join } from 'node:path'
import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
import { durations, loadConfig } from '@switchhook/runtime'
import type { Say } from '../process/progress.ts'
import type { StackFile } from '../stack/stack-file.ts'
import { readStackOptions } from '../stack/stack-options.ts'
import { startStack } from '../stack/start-stack.ts'
import { stopStack } from '../stack/stop-stack.ts'
import { aCustomerIsTransferred } from './a-customer-is-transferred.ts'
import { createApiClient, requestToken } from './api-client.ts'
import { claim, NotShown } from './claim.ts'
import { aCallIsFollowed, anEndpointFails, aParkedDeliveryIsSentAgain, describeArrival } from './scenario.ts'
import { createScreen, type Screen } from './screen.ts'
import { type Arrival, startSubscriber } from './subscriber.ts'

const SHORT_SCHEDULE = '1s,2s,3s'

/**
 * Starts a stack of its own from nothing, plays the scenario on it, and takes it down again whatever happens. Resolves
 * only if everything that it says did happen.
 */
export async function runDemo(env: NodeJS.ProcessEnv, say: Say): Promise<void> {
  const options = {
    ...readStackOptions(env),
    home: join(env['SWITCHHOOK_HOME'] || '.local', 'demo'),
    apiPort: 0,
    idpPort: 0,
  }
  const schedule = env['DELIVERY_RETRY_WAITS'] || SHORT_SCHEDULE
  const { DELIVERY_RETRY_WAITS: waitsMs } = loadConfig(
    { DELIVERY_RETRY_WAITS: durations() },
    { DELIVERY_RETRY_WAITS: schedule },
  )
  claim(waitsMs.length > 0, 'a retry: DELIVERY_RETRY_WAITS names no wait')
  const screen = createScreen(say, { colour: process.stdout.isTTY && !env['NO_COLOR'] })
  let isInterrupted = false
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => {
    isInterrupted = true
    throw new NotShown('interrupted: the rest was not shown')
  })

  const began = Date.now()
  say('Switchhook from nothing: RabbitMQ, Redis, an identity provider, the services')
  await stopStack(options.home, say, { discardData: true })
  const starting = startStack(options, { ...env, DELIVERY_RETRY_WAITS: schedule, WRAP_UP_SECONDS: '2' }, say)
  let isComplete = false
  try {
    const play = async (): Promise<void> => {
      const stack = await starting
      if (!isInterrupted) await playOn(stack, began, waitsMs, screen)
    }
    await Promise.race([play(), interrupted])
    isComplete = true
  } finally {
    if (!isComplete) say(`What the services said: ${join(options.home, 'log')}`)
    // What is only just starting could not be found and stopped.
    await Promise.allSettled([starting])
    await stopStack(options.home, say, { discardData: isComplete })
  }
  say('Everything above happened, and nothing of it is left running.')
}

async function playOn(stack: StackFile, began: number, waitsMs: readonly number[], screen: Screen): Promise<void> {
  const upAt = Date.now()
  screen.row([
    `up after ${((upAt - began) / 1_000).toFixed(1)} s: api ${stack.urls.api}, log files in ${stack.home}/log`,
  ])
  const subscriber = await startSubscriber((arrival) => screen.row(describeArrival(arrival, upAt)))
  try {
    screen.scene('A client gets a token from its identity provider')
    const [{ tenant, clientId, clientSecret }] = DEV_TENANTS
    const { tokenUrl } = addressesOf(stack.urls.devIdp, tenant)
    const accessToken = await screen.exchange(`POST /${tenant}/oauth2/v2.0/token`, async () => {
      const token = await requestToken(tokenUrl, { clientId, clientSecret, scope: DEV_SCOPE })
      return {
        status: 200,
        detail: `${clientId} of ${tenant}, good for ${token.expiresInS} s`,
        value: token.accessToken,
      }
    })

    const api = createApiClient(String(stack.urls.api), accessToken, screen)
    const stage = { api, subscriber, screen, waitsMs }
    await aCallIsFollowed(stage)
    await aCustomerIsTransferred(stage)
    await aParkedDeliveryIsSentAgain(stage, await anEndpointFails(stage))
    summarise(subscriber.arrivals(), screen, { startMs: upAt - began, playMs: Date.now() - upAt })
  } finally {
    await subscriber.close()
  }
}

function summarise(
  arrivals: readonly Arrival[],
  screen: Screen,
  took: { readonly startMs: number; readonly playMs: number },
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
    ['time', `${(took.startMs / 1_000).toFixed(1)} s to start, ${(took.playMs / 1_000).toFixed(1)} s to play`],
  ])
}
