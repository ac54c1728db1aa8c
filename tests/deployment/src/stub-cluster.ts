import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The API of a cluster without objects, for the `lookup` of a chart: Helm itself runs synchronously. Prints its URL. GET
// /asked answers with the names of the Secrets that were looked up.
const asked = new Set<string>()
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
  const answer = answers[path] ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }
  response.writeHead(path in answers ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
