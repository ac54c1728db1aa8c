import { AppError, toProblem } from '@switchhook/contracts'
import type { Audit } from '../../audit/audit-log.ts'

/**
 * Carries out a route, and has a 404 confirmed before it is answered or kept for an `Idempotency-Key`: a Redis that lost its
 * data finds nothing either.
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
