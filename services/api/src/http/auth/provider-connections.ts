import { isIPv6, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { createLookup, type LookupOptions } from '@switchhook/egress'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'

/** The key cache decides how soon a provider is asked again: it may have started a moment ago. */
const FORGET_FAILURE_MS = 1

/**
 * Makes the connections to identity providers, directly or through the proxy that Node.js is told to use. The system does not look
 * up their names, because a silent name would block a thread of the process (ADR 0080). A tenant can name any host: its provider is
 * asked where the keys are, and may redirect.
 * @param timeoutMs of one fetch; a look-up ends within it
 */
export function openProviderConnections(
  timeoutMs: number,
  names: Pick<LookupOptions, 'servers' | 'files'> = {},
): Dispatcher {
  const find = createLookup({
    ...names,
    guard: { allows: () => true },
    timeoutMs: Math.ceil(timeoutMs / 4),
    forgetFailureMs: FORGET_FAILURE_MS,
  })
  const lookup: LookupFunction = (hostname, _options, done) =>
    callbackify(find)(hostname, (error, found) =>
      error
        ? done(error, [])
        : done(
            null,
            found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
          ),
    )
  // With `autoSelectFamily`, Node.js asks for all addresses, and tries them in turn.
  const options = { allowH2: false, connect: { lookup, autoSelectFamily: true } }
  return isProxied() ? new EnvHttpProxyAgent(options) : new Agent(options)
}

/** https://nodejs.org/api/http.html#built-in-proxy-support, which a dispatcher of its own turns off. */
const isProxied = (): boolean =>
  process.env['NODE_USE_ENV_PROXY'] === '1' ||
  [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].some((one) => one.includes('--use-env-proxy'))
