import { AppError, toProblem } from '@switchhook/contracts'
import type { Audit } from '../../audit/audit-log.ts'

/**
 * Confirms every 404 before it is answered or stored for an `Idempotency-Key`, because a Redis that lost its data finds
 * nothing either. This is the only place that confirms a 404.
 * @param verify rejects with Unavailable unless Redis holds the data of this installation
 */
export const confirmAbsence =
  (carryOut: Audit, verify: () => Promise<void>): Audit =>
  async (...request) => {
    try {
      return await carryOut(...request)
    } catch (error) {
      if (error instanceof AppError && toProblem(error, '').status === 404) await verify()
      throw error
    }
  }
