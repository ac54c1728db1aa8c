export { type AddressGuard, createAddressGuard } from './address-guard.ts'
export { createLookup, type Lookup, type LookupOptions, NO_NAME_SERVER } from './lookup.ts'
export { createNetworkMatcher } from './network-matcher.ts'
