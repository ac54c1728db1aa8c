import { EndReason } from '@switchhook/contracts'

/**
 * End reasons with the Q.850 causes and SIP codes that Asterisk reports for them (SIP: RFC 3261; Q.850 in SIP: RFC
 * 3326).
 */
export const ENDINGS = {
  normal: { endReason: EndReason.normal, cause: 16, sipCode: null },
  cancelled: { endReason: EndReason.cancelled, cause: 127, sipCode: 487 },
  rejected: { endReason: EndReason.rejected, cause: 21, sipCode: 603 },
  badAddress: { endReason: EndReason.badAddress, cause: 1, sipCode: 404 },
  busy: { endReason: EndReason.busy, cause: 17, sipCode: 486 },
  noAnswer: { endReason: EndReason.noAnswer, cause: 19, sipCode: 480 },
  deviceUnavailable: { endReason: EndReason.deviceUnavailable, cause: 20, sipCode: 480 },
  transferred: { endReason: EndReason.transferred, cause: 16, sipCode: null },
} as const
