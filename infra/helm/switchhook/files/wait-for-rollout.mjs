/**
 * Waits until every running pod of the services that go first has its version:
 * `node wait-for-rollout.mjs <order.json> <service> <version>`
 *
 * The file has the version of each service, and the services that each one waits for. A node may still have that of an
 * earlier release, with another version of this service: the pod waits for its own. It may have that of a later one if a
 * pod of the replaced version starts again, on another node for example. With its release, the Service of its version is
 * gone for good. Such a pod waits for none: until the later release is ready, those of its version do the work.
 *
 * Compares the addresses of two headless Services, `<service>-pods` and `<service>-<version>`. The second name belongs to
 * one version only, so a DNS cache cannot answer it with pods of another. A pod counts whether it is ready or not: an
 * outage of RabbitMQ or Redis keeps no pod of an unchanged version from starting.
 */
import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const INTERVAL_MS = 2_000
/** Longer than a node keeps an earlier file, and DNS the answer that a new name does not exist. */
const REPLACED_AFTER_MS = 120_000

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

/** Whether no pod has the name, not even this one. False if DNS does not answer. */
const isGone = (name) =>
  addressesOf(name).then(
    (addresses) => addresses.length === 0,
    () => false,
  )

const log = (message) => process.stdout.write(`${message}\n`)

// Process 1 has no default action for signals.
process.on('SIGTERM', () => process.exit(143))
const [file, own, ownVersion] = process.argv.slice(2)
const read = () => JSON.parse(readFileSync(file, 'utf8'))
let order = read()
for (let goneMs = 0; order.versions[own] !== ownVersion; order = read()) {
  if (goneMs === REPLACED_AFTER_MS) {
    log('a later release replaces that of this pod: it waits for none')
    process.exit()
  }
  log('waiting: this node does not have the order of this release yet')
  await sleep(INTERVAL_MS)
  goneMs = (await isGone(`${own}-${ownVersion}`)) ? goneMs + INTERVAL_MS : 0
}
for (const service of order.waitFor[own]) {
  const version = order.versions[service]
  for (let obstacle = await obstacleOf(service, version); obstacle; obstacle = await obstacleOf(service, version)) {
    log(`waiting: ${obstacle}`)
    await sleep(INTERVAL_MS)
  }
  log(`all pods of ${service} run this version`)
}
