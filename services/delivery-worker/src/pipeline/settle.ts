import type { DeliveryStore } from '@switchhook/store'
import type { DeliveryListener } from '../reporting/listener.ts'
import type { At } from './progress.ts'

export interface SettleDeps {
  readonly deliveries: Pick<DeliveryStore, 'settle' | 'park'>
  readonly listener: Pick<Required<DeliveryListener>, 'concluded'>
}

/** Writes the ledger entry of the slot and the attempt, and reports the attempt, also if the slot was settled already. */
export async function settle({ deliveries, listener }: SettleDeps, at: At<'secured'>): Promise<At<'settled'>> {
  const { result, decision, settlement } = at
  const { delivery, attempt, outcome, before } = result
  const { kind, excess = [] } =
    settlement.state === 'parked'
      ? await deliveries.park(delivery, attempt, settlement.reason, settlement.cause)
      : await deliveries.settle(delivery, attempt, settlement)
  listener.concluded(delivery, attempt, decision, outcome)
  const written = kind === 'written' && { written: { decision, excess } }
  return { kind: 'settled', delivery, rejected: before?.rejected, result, ...written }
}
