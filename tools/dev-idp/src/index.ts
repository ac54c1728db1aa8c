export { devIdpFields, neverInProduction } from './config.ts'
export { CONSOLE_CLIENT_ID, DEV_ROLES } from './people.ts'
export {
  addressesOf,
  DEV_AUDIENCE,
  DEV_CONSOLE_SCOPE,
  DEV_SCOPE,
  DEV_TENANTS,
  type DevTenant,
  devTenants,
  requestToken,
} from './tenants.ts'
