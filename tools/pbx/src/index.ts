export { AsteriskUnavailable, asteriskFiles } from './asterisk-files.ts'
export { type OutsideWorld, openOutsideWorld } from './outside-world.ts'
export { type PrivateAsterisk, privateAsterisk } from './private-asterisk.ts'
export { createSipPhone, type SipPhone, type SipPhoneOptions } from './sip-phone.ts'
