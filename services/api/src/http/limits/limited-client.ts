import type { Caller } from '../route.ts'

/**
 * The name under which what a caller has in progress is counted. The users of one client, such as the console, count
 * apart. Undefined: a request without a token, which comes from a trusted network and is not limited.
 */
export const limitedClientOf = ({ issuer, clientId, subject }: Caller): string | undefined =>
  issuer === undefined ? undefined : JSON.stringify([issuer, clientId, subject])
