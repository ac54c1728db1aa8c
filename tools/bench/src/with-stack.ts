import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { devTenants, requestToken } from '@switchhook/dev-idp'
import { readStackOptions, startStack, stopStack } from '@switchhook/local'
import { loadConfig } from '@switchhook/runtime'
import { type Bench, benchFields } from './bench.ts'
import { TENANTS } from './figures/deliveries.ts'

const say = (line: string): void => console.log(line)

/** Requests are counted as usual, but the limit is never reached. */
const COUNTED_ONLY = '999999999/1m'

/** Starts a stack of its own from nothing, and always stops it. */
export async function withStack(
  env: NodeJS.ProcessEnv,
  setting: object,
  use: (bench: Omit<Bench, 'defer'>) => Promise<void>,
): Promise<void> {
  const home = join(env['SWITCHHOOK_HOME'] || '.local', 'bench')
  const options = { ...readStackOptions(env), home, apiPort: 0, idpPort: 0 }
  // All listeners of a figure have one token.
  const limits = { RATE_LIMIT: COUNTED_ONLY, STREAM_LISTENERS_PER_CLIENT: '200' }
  const settings = { ...limits, DEV_IDP_TENANTS: String(TENANTS), ...env, ...setting }
  await stopStack(home, say, { discardData: true })
  try {
    const stack = await startStack(options, settings, say)
    const tenants = devTenants(TENANTS)
    const tokenOf = (name: string): Promise<string> => {
      const tenant = tenants.find((known) => known.tenant === name)
      if (tenant === undefined) throw new Error(`the identity provider has no tenant ${name}`)
      return requestToken(stack.urls.devIdp, tenant)
    }
    const token = await tokenOf('acme')
    const bringUp: Bench['bringUp'] = (more = {}, replicas = {}) =>
      startStack({ ...options, replicas: { ...options.replicas, ...replicas } }, { ...settings, ...more }, () => {})
    await use({ stack, token, tokenOf, say, options: loadConfig(benchFields, env), bringUp })
  } finally {
    await stopStack(home, say, { discardData: true })
    rmSync(home, { recursive: true, force: true })
  }
}
