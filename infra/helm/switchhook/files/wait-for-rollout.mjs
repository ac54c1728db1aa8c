/**
 * Waits until every running pod of the services that go first has its version:
 * `node wait-for-rollout.mjs <order.json> <service> <version>`
 *
 * The file has the version of each service, and the services that each one waits for. A node may still have that of an
 * earlier release, with another version of this service.
 *
 * Compares the addresses of two headless Services, `<service>-pods` and `<service>-<version>`. The second name belongs to
 * one version only, so a DNS cache cannot answer it with pods of another. A pod counts whether it is ready or not: an
 * outage of RabbitMQ or Redis keeps no pod of an unchanged version from starting.
 */
import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const INTERVAL_MS = 2_000

/** The addresses of a name; none if it does not exist. Rejects if DNS does not answer. */
async function addressesOf(name) {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
    throw error
  }
}

/** What keeps this pod waiting; undefined if no pod of another version runs. */
async function obstacleOf(service, version) {
  try {
    const current = new Set(await addressesOf(`${service}-${version}`))
    const others = (await addressesOf(`${service}-pods`)).filter((address) => !current.has(address))
    return others.length === 0 ? undefined : `${others.length} pods of ${service} run another version`
  } catch (error) {
    return `the pods of ${service} cannot be looked up (${error.code ?? error.message})`
  }
}

const log = (message) => process.stdout.write(`${message}\n`)

// Process 1 has no default action for signals.
process.on('SIGTERM', () => process.exit(143))
const [file, own, ownVersion] = process.argv.slice(2)
const read = () => JSON.parse(readFileSync(file, 'utf8'))
let order = read()
for (; order.versions[own] !== ownVersion; order = read()) {
  log('waiting: this node does not have the order of this release yet')
  await sleep(INTERVAL_MS)
}
for (const service of order.waitFor[own]) {
  const version = order.versions[service]
  for (let obstacle = await obstacleOf(service, version); obstacle; obstacle = await obstacleOf(service, version)) {
    log(`waiting: ${obstacle}`)
    await sleep(INTERVAL_MS)
  }
  log(`all pods of ${service} run this version`)
}
