/** Checks a running installation from inside the cluster: `helm test` runs it. Exits with 1 and lists what is wrong. */
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const SERVICES = ['api', 'fanout', 'delivery-worker']
const ANSWER_MS = 5_000
const INTERVAL_MS = 2_000
/** A network plug-in may refuse the connections of a pod in its first seconds. */
const PATIENCE_MS = 60_000

/** Resolves to the problem, in words; to nothing if the address answers as expected. */
async function problemAt(url, expected, what) {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return status === expected ? [] : [`${what}: ${url} answers ${status}, expected ${expected}`]
  } catch (error) {
    return [`${what}: ${url} does not answer (${error.cause?.code ?? error.message})`]
  }
}

async function problemsOfPods(service) {
  try {
    const pods = await lookup(`${service}-pods`, { all: true })
    const hosts = pods.map(({ address, family }) => (family === 6 ? `[${address}]` : address))
    const problems = hosts.map((host) => problemAt(`http://${host}:9100/readyz`, 200, `${service} is ready`))
    return (await Promise.all(problems)).flat()
  } catch (error) {
    return [`${service} has no pod (${error.code})`]
  }
}

async function findProblems() {
  const problems = await Promise.all([
    problemAt('http://api/api/v1/openapi.json', 200, 'the api serves its document'),
    problemAt('http://api/api/v1/webhooks/subscriptions', 401, 'the api asks for a token'),
    ...SERVICES.map(problemsOfPods),
  ])
  return problems.flat()
}

const deadline = Date.now() + PATIENCE_MS
let problems = await findProblems()
while (problems.length > 0 && Date.now() < deadline) {
  await sleep(INTERVAL_MS)
  problems = await findProblems()
}
process.stdout.write(problems.length === 0 ? 'the installation works\n' : `${problems.join('\n')}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
