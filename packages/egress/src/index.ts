export { type AddressGuard, createAddressGuard } from './address-guard.ts'
export { createNetworkMatcher } from './network-matcher.ts'
