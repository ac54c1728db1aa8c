import { EndReason } from '@switchhook/contracts'
import type { HowEnded } from '@switchhook/platform'
import type { Channel } from './session.ts'

const { normal, busy, badAddress, noAnswer, cancelled, rejected, failed, deviceUnavailable, answeredElsewhere } =
  EndReason

/** Q.850 causes of a leg that was never answered. Other causes are `failed`. */
const UNANSWERED: Readonly<Record<number, EndReason>> = {
  1: badAddress,
  17: busy,
  20: deviceUnavailable,
  21: rejected,
  22: badAddress,
  26: answeredElsewhere,
  28: badAddress,
  44: deviceUnavailable,
}

/** Causes of a leg that was answered and did not end with an ordinary BYE. */
const ANSWERED: Readonly<Record<number, EndReason>> = {
  20: deviceUnavailable,
  31: normal,
  44: deviceUnavailable,
  127: normal,
}

const NORMAL_CAUSES = [0, 16]
const NO_ANSWER_CAUSES = [18, 19]
const REQUEST_TERMINATED = 487
/** Unwanted (RFC 8197) and Rejected (RFC 8688). Asterisk gives both the cause 127. */
const REJECTED_AS_SPAM = [607, 608]

/** Why a channel ended, from the Q.850 cause and the SIP status that Asterisk reports. */
export function howEnded(channel: Channel, cause: number, sipCode: number | null): HowEnded {
  return { endReason: endReasonOf(channel, cause, sipCode), cause, sipCode }
}

function endReasonOf({ state, origin }: Channel, cause: number, sipCode: number | null): EndReason {
  const isNormal = NORMAL_CAUSES.includes(cause)
  if (state === 'up') return isNormal ? normal : (ANSWERED[cause] ?? failed)
  if (sipCode === REQUEST_TERMINATED) return cancelled
  if (sipCode !== null && REJECTED_AS_SPAM.includes(sipCode)) return rejected
  if (isNormal) return origin === 'arrived' ? cancelled : rejected
  if (NO_ANSWER_CAUSES.includes(cause)) return state === 'ringing' ? noAnswer : deviceUnavailable
  return UNANSWERED[cause] ?? failed
}

/** Asterisk has stopped, or lost the call without giving a cause. */
export const PLATFORM_LOST: HowEnded = { endReason: EndReason.platformLost, cause: null, sipCode: null }

/** Whether the party ended the call, as opposed to the network or Asterisk. */
export const isByParty = ({ endReason }: HowEnded): boolean =>
  [normal, busy, badAddress, cancelled, rejected].some((reason) => reason === endReason)
