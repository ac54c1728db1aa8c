import type { DeliveryStore, HeldExcess } from '@switchhook/store'
import type { DeliveryListener } from '../reporting/listener.ts'
import type { At } from './progress.ts'

export interface SettleDeps {
  readonly deliveries: Pick<DeliveryStore, 'settle' | 'park'>
  readonly listener: Pick<Required<DeliveryListener>, 'concluded'>
}

/** Writes the ledger entry of the slot and the attempt, and reports both. */
export async function settle({ deliveries, listener }: SettleDeps, at: At<'secured'>): Promise<At<'settled'>> {
  const { result, decision, settlement } = at
  const { delivery, attempt, outcome, before } = result
  let excess: readonly HeldExcess[] = []
  if (settlement.state === 'parked') await deliveries.park(delivery, attempt, settlement.reason, settlement.cause)
  else excess = await deliveries.settle(delivery, attempt, settlement)
  listener.concluded(delivery, attempt, decision, outcome)
  return { kind: 'settled', delivery, rejected: before?.rejected, result, decision, excess }
}
