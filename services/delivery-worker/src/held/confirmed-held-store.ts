import { createHeldStore, type HeldStore, type Installation, type Redis } from '@switchhook/store'

/** Held deliveries. A message is missing only in the right Redis: otherwise an outcome would count as recorded, or an entry as settled. */
export function createConfirmedHeldStore(redis: Redis, installation: Pick<Installation, 'confirmAbsence'>): HeldStore {
  const held = createHeldStore(redis)
  const read = installation.confirmAbsence(
    (...ids: Parameters<HeldStore['read']>) => held.read(...ids),
    (found) => found.status === 'fulfilled' && found.value.includes(undefined),
  )
  return { ...held, read }
}
