/**
 * Waits until every running pod of the given services has the given version: `node wait-for-rollout.mjs <service>=<version> …`
 *
 * Compares the addresses of two headless Services, `<service>-pods` and `<service>-<version>`. The second name belongs to
 * one version only, so a DNS cache cannot answer it with pods of another. A pod counts whether it is ready or not: an
 * outage of RabbitMQ or Redis keeps no pod of an unchanged version from starting.
 */
import { lookup } from 'node:dns/promises'
import { pathToFileURL } from 'node:url'

const INTERVAL_MS = 2_000

/** The addresses of a name; none if it does not exist. Rejects if DNS does not answer. */
export async function addressesOf(name, resolve = lookup) {
  try {
    return (await resolve(name, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
    throw error
  }
}

/** The addresses of the pods that run another version of a service. */
export async function othersOf({ service, version }, resolve = lookup) {
  const current = new Set(await addressesOf(`${service}-${version}`, resolve))
  return (await addressesOf(`${service}-pods`, resolve)).filter((address) => !current.has(address))
}

/** Resolves when no pod of another version is left. Logs what it waits for. */
export async function waitForRollout(services, { resolve = lookup, sleep, log }) {
  for (const service of services) {
    for (;;) {
      let others
      try {
        others = await othersOf(service, resolve)
        if (others.length === 0) break
        log(`waiting: ${others.length} pods of ${service.service} run another version`)
      } catch (error) {
        log(`waiting: the pods of ${service.service} cannot be looked up (${error.code ?? error.message})`)
      }
      await sleep()
    }
    log(`all pods of ${service.service} run this version`)
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  // Process 1 has no default action for signals.
  process.on('SIGTERM', () => process.exit(143))
  const services = process.argv.slice(2).map((argument) => {
    const [service, version] = argument.split('=')
    return { service, version }
  })
  await waitForRollout(services, {
    sleep: () => new Promise((wake) => setTimeout(wake, INTERVAL_MS)),
    log: (message) => process.stdout.write(`${message}\n`),
  })
}
