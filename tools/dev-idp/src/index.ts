export { devIdpFields, neverInProduction } from './config.ts'
export { addressesOf, DEV_AUDIENCE, DEV_SCOPE, DEV_TENANTS, type DevTenant, devTenants } from './tenants.ts'
