import { newToken } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { Clocks } from '../clocks.ts'
import type { Decision } from '../policy/decide.ts'
import type { At, Result, ToSettle } from './progress.ts'

export interface SecureDeps extends Pick<Clocks, 'now'> {
  readonly broker: Pick<Broker, 'publishRetry'>
}

/**
 * Makes a retry safe with the broker. A parked or held delivery is stored with the ledger, so nothing else is to be secured.
 *
 * Two copies of a message, or one that comes back after a lost confirm, publish a retry each, with a token each. The ledger
 * names the token of the first that is settled, so all but one of these retries are dropped when they fall due.
 */
export async function secure(deps: SecureDeps, { result, decision }: At<'decided'>): Promise<At<'secured'>> {
  return { kind: 'secured', result, decision, settlement: await settlementOf(deps, result, decision) }
}

async function settlementOf({ broker, now }: SecureDeps, { delivery }: Result, decision: Decision): Promise<ToSettle> {
  switch (decision.kind) {
    case 'acknowledged':
    case 'withdrawn':
    case 'expired':
      return { state: decision.kind }
    case 'park': {
      const { kind: _, ...reason } = decision
      return { state: 'parked', ...reason }
    }
    case 'hold': {
      const { slot, postponed = 0, waitMs: dueInMs, lookInMs } = decision
      return { state: 'held', slot, next: { token: newToken(), postponed }, dueInMs, lookInMs }
    }
    case 'retry':
    case 'postpone': {
      const { postponed: _, ...rest } = delivery
      const { slot, postponed = 0, waitMs } = decision
      const token = newToken()
      // Confirmed by the broker before the slot is settled, so that the ledger never names a message that does not exist.
      await broker.publishRetry({ ...rest, slot, token, ...(postponed > 0 && { postponed }) }, waitMs)
      const nextAttemptAt = new Date(now() + waitMs).toISOString()
      return { state: 'waiting', next: { token, postponed }, nextAttemptAt }
    }
  }
}
