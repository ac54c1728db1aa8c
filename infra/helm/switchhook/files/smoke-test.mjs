/** Checks a running installation from inside the cluster: `helm test` runs it. Exits with 1 and lists what is wrong. */
import { lookup } from 'node:dns/promises'
import { pathToFileURL } from 'node:url'

const SERVICES = ['api', 'fanout', 'delivery-worker']

/** @returns the problems, in words; none if the installation works */
export async function findProblems({ request = fetch, resolve = lookup } = {}) {
  const problems = []
  const expectStatus = async (url, expected, what) => {
    try {
      const { status } = await request(url, { signal: AbortSignal.timeout(5_000) })
      if (status !== expected) problems.push(`${what}: ${url} answers ${status}, expected ${expected}`)
    } catch (error) {
      problems.push(`${what}: ${url} does not answer (${error.cause?.code ?? error.message})`)
    }
  }
  await expectStatus('http://api/api/v1/openapi.json', 200, 'the api serves its document')
  await expectStatus('http://api/api/v1/webhooks/subscriptions', 401, 'the api asks for a token')
  for (const service of SERVICES) {
    let pods = []
    try {
      pods = await resolve(`${service}-pods`, { all: true })
    } catch (error) {
      problems.push(`${service} has no pod (${error.code})`)
    }
    for (const { address, family } of pods) {
      const host = family === 6 ? `[${address}]` : address
      await expectStatus(`http://${host}:9100/readyz`, 200, `${service} is ready`)
    }
  }
  return problems
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = await findProblems()
  process.stdout.write(problems.length === 0 ? 'the installation works\n' : `${problems.join('\n')}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
