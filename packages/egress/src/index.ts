export { type AddressGuard, createAddressGuard } from './address-guard.ts'
