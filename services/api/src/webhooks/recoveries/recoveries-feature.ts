import { tracePublishDelivery } from '@switchhook/runtime'
import { createBreakerReader, createParkedWindow } from '@switchhook/store'
import { feature } from '../../http/feature.ts'
import type { State } from '../../state/state.ts'
import { createTransact } from '../../state/transact.ts'
import type { WebhookParts } from '../stores.ts'
import { createRecoveryDriver } from './drive-recovery.ts'
import { createRecoverRejected } from './recover-rejected.ts'
import { createRecoveryBook, type RecoveriesDeps } from './recovery-book.ts'
import { createRecoveryMeter } from './recovery-meter.ts'
import { recoveryRoutes } from './recovery-routes.ts'

/**
 * Recoveries, as one replica runs them. A recovery is a cursor in the list of a subscription's parked deliveries, which is
 * moved under a lease, in small steps, so that any replica can continue it after a crash. From the POST to the end:
 *
 * 1. `POST …/recover` counts the parked deliveries of the selection and stores the recovery with the timer of its first
 *    step (`recovery-routes.ts`, `recovery-book.ts`). The list as it is then is all that the recovery sends: deliveries
 *    that are parked later, its own included, are not touched.
 * 2. The timer is due at some replica, which begins the step (`drive-recovery.ts`). `pace.ts` decides how many deliveries to
 *    send now, or what to wait for.
 * 3. The cursor and the batch are stored before the batch is sent, with a timer at the end of the lease. If the replica dies,
 *    that timer begins the next step at another replica, which sends the same runs of the same batch again.
 * 4. Each delivery of the batch is sent as `redeliver` sends it (`send-items.ts`), to the queue of yielding deliveries, where it gives
 *    way to the deliveries that are due.
 * 5. The counts are stored with the timer of the next step, or with the end: `done` once the list is read and no batch is
 *    left (`recovery.ts` has these transitions as pure functions).
 *
 * A recovery also ends as `cancelled`: on request, when its subscription is deleted, or after 30 days without progress.
 *
 * With `recoverRejected`, a worker asks for a recovery instead of a person (`recover-rejected.ts`). It ends as soon as a
 * delivery is parked again.
 *
 * A backfill is a recovery that reads the journal instead of the list of parked deliveries, and sends the events that did
 * not go to the subscription as new deliveries.
 */
export function createRecoveries(deps: RecoveriesDeps) {
  const transact = createTransact(deps.store)
  return { book: createRecoveryBook(deps, transact), driver: createRecoveryDriver(deps, transact) }
}

export const recoveries = feature(recoveryRoutes, (parts: WebhookParts & { readonly state: State }) => {
  const { config, metrics, tracing, redis, broker, state } = parts
  const breakers = createBreakerReader(redis)
  const opened = {
    ...parts,
    store: state.store,
    readEndpoint: (endpoint) => breakers.readEndpoint(endpoint),
    parked: createParkedWindow(redis),
    publish: tracePublishDelivery(tracing, (delivery) => broker.publishYielding(delivery)),
    mostPerSecond: config.RECOVERY_RATE,
    meter: createRecoveryMeter(metrics),
  } satisfies RecoveriesDeps
  const { book, driver } = createRecoveries(opened)
  const deps = { ...opened, recoveries: book }
  const rejected = createRecoverRejected(deps)
  return {
    deps,
    timers: { recovery: driver.timerDue, rejected: rejected.timerDue },
    close: async () => {
      await Promise.all([driver.idle(), rejected.idle()])
    },
  }
})
