import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The API of a cluster with nothing but Secrets (SECRETS: name → key → value), for the `lookup` of a chart: Helm itself runs synchronously. Prints its URL. GET
// /asked answers with the names of the Secrets that were looked up.
const asked = new Set<string>()
const secrets = JSON.parse(process.env['SECRETS'] ?? '{}') as Record<string, Record<string, string>>

/** The Secret of this name, as Kubernetes answers with it. */
function secretOf(name: string) {
  const content = Object.entries(secrets[name] ?? {})
  const data = Object.fromEntries(content.map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data }
}

const server = createServer(({ url = '' }, response) => {
  const path = url.replace(/\?.*/, '')
  const secret = /\/secrets\/([\w-]+)$/.exec(path)?.[1]
  if (secret !== undefined) asked.add(secret)
  const answers: Readonly<Record<string, unknown>> = {
    '/asked': [...asked].toSorted(),
    '/version': { major: '1', minor: '36', gitVersion: 'v1.36.2' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', groups: [] },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: [{ name: 'secrets', kind: 'Secret', singularName: 'secret', namespaced: true, verbs: ['get'] }],
    },
  }
  const found = secret !== undefined && secret in secrets ? secretOf(secret) : answers[path]
  const answer = found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }
  const status = found === undefined ? 404 : 200
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
