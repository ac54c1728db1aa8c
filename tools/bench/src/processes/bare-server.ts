import type { AddressInfo } from 'node:net'
import express from 'express'
import { Redis } from 'ioredis'

/** The minimum of a command: the same web framework, the same JSON body, one write to the same Redis. */
const redis = new Redis(process.argv[2] ?? '')
const app = express()
app.use(express.json())
app.post('/command', (request, response) => {
  const { agentUri } = request.body as { agentUri: string }
  redis
    .set(`bench:${agentUri}`, JSON.stringify(request.body))
    .then(() => response.status(202).json({ agentUri, noop: false }))
    .catch((error: unknown) => response.destroy(error as Error))
})
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit())
