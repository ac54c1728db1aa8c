import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadSigningKeys } from './signing-keys.ts'
import { tenantProvider } from './tenant-provider.ts'
import type { DevTenant } from './tenants.ts'

export interface IdentityProvider {
  /** A tenant's issuer is this and the tenant's name. */
  readonly baseUrl: string
  close(): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Serves every tenant on one port, each below its own path. Port 0: any free one. Wherever it listens, clients are to
 * know it as 127.0.0.1: the issuer in a token must be one and the same for everybody.
 */
export async function startIdentityProvider(options: {
  readonly host: string
  readonly port: number
  readonly keysFile: string | undefined
  readonly tenants: readonly DevTenant[]
}): Promise<IdentityProvider> {
  const handlers = new Map<string, Handler>()
  const server = createServer((request, response) => {
    const [, tenant = '', rest = ''] = /^\/([^/?]*)(.*)$/.exec(request.url ?? '') ?? []
    const handle = handlers.get(tenant)
    if (handle === undefined) {
      answerUnknown(tenant, options.tenants, response)
      return
    }
    // What the provider sees is its own root; what it tells clients begins with what they asked.
    Object.assign(request, { originalUrl: request.url, url: rest.startsWith('/') ? rest : `/${rest}` })
    // It answers every error itself.
    void handle(request, response)
  })
  await once(server.listen(options.port, options.host), 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const keys = loadSigningKeys(
    options.keysFile,
    options.tenants.map(({ tenant }) => tenant),
  )
  for (const tenant of options.tenants) {
    const key = keys[tenant.tenant]
    if (key !== undefined) handlers.set(tenant.tenant, tenantProvider(baseUrl, tenant, key).callback())
  }
  return {
    baseUrl,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      await closed
    },
  }
}

function answerUnknown(tenant: string, known: readonly DevTenant[], response: ServerResponse): void {
  const tenants = known.map(({ tenant }) => tenant)
  const about = { purpose: 'identity provider for development only', tenants }
  const body = tenant === '' ? about : { error: 'unknown_tenant', tenants }
  response.writeHead(tenant === '' ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
