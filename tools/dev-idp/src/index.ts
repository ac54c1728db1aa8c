export { devIdpFields, neverInProduction } from './config.ts'
export { CLI_CLIENT_ID, CONSOLE_CLIENT_ID, DEV_ROLES } from './people.ts'
export {
  addressesOf,
  DEV_AUDIENCE,
  DEV_PERSON_SCOPE,
  DEV_SCOPE,
  DEV_TENANTS,
  devTenant,
  devTenants,
  requestToken,
} from './tenants.ts'
