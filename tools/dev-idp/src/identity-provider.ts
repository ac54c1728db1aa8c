import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadSigningKeys } from './signing-keys.ts'
import { tenantProvider } from './tenant-provider.ts'
import type { DevTenant } from './tenants.ts'

/**
 * Serves every tenant on one port, each below its own path. Port 0 means any free port. On every interface, the issuer is
 * http://127.0.0.1, because the issuer in a token must be the same for all clients.
 */
export async function startIdentityProvider(options: {
  readonly host: string
  readonly port: number
  readonly keysFile: string | undefined
  readonly tenants: readonly DevTenant[]
}) {
  const server = createServer()
  await once(server.listen(options.port, options.host), 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const keys = loadSigningKeys(options.keysFile, options.tenants)
  const handlers = new Map(keys.map(([tenant, key]) => [tenant.tenant, tenantProvider(baseUrl, tenant, key)]))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const [, tenant = '', rest = ''] = /^\/([^/?]*)(.*)$/.exec(request.url ?? '') ?? []
    const handle = handlers.get(tenant)
    if (handle === undefined) return answerUnknown(tenant, [...handlers.keys()], response)
    // The provider handles its path as the root, and uses originalUrl for URLs that it returns.
    Object.assign(request, { originalUrl: request.url, url: rest.startsWith('/') ? rest : `/${rest}` })
    handle(request, response).catch(() => {
      // Such as a body that was cut off.
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  return {
    /** The issuer of a tenant is this URL plus the tenant's name. */
    baseUrl,
    close: () => server[Symbol.asyncDispose](),
  }
}

function answerUnknown(tenant: string, tenants: readonly string[], response: ServerResponse): void {
  const about = { purpose: 'identity provider for development only', tenants }
  const body = tenant === '' ? about : { error: 'unknown_tenant', tenants }
  response.writeHead(tenant === '' ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
