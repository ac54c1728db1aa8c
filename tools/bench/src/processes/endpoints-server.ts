import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Arrival, Behaviour, EndpointsQuestion } from '../load/endpoints.ts'
import { monotonicMs } from '../measure/clock.ts'

/** Endpoints with a port each, in groups that behave alike. Notes the latency of first POSTs at the first group. */
const sizes = process.argv.slice(2).map(Number)
const behaviours: Behaviour[] = sizes.map(() => 'quick')
let arrivals: Arrival[] = []
let answered: Partial<Record<Behaviour, number>> = {}

const CHUNK = Buffer.alloc(65_536, 'endless ')
const BOMB = gzipSync(Buffer.alloc(50 * 2 ** 20))
/** More header bytes than any client reads. */
const HUGE_HEADER = 'x'.repeat(60_000)

const oneIn =
  (count: number) =>
  (response: ServerResponse): void => {
    if (Math.random() < 1 / count) ANSWERS.quick(response)
  }

const ANSWERS: Readonly<Record<Behaviour, (response: ServerResponse) => void>> = {
  quick: (response) => response.writeHead(204).end(),
  hang: () => {},
  'one in 2': oneIn(2),
  'one in 4': oneIn(4),
  'one in 10': oneIn(10),
  endless: (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const write = (): void => {
      while (!response.destroyed && response.write(CHUNK));
    }
    response.on('drain', write)
    write()
  },
  bomb: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  headers: (response) => response.writeHead(200, { 'x-huge': HUGE_HEADER }).end(),
  drip: (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 1_000)
    response.on('close', () => clearInterval(timer))
  },
}

function receive(group: number, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const now = monotonicMs()
    const sentAt = Number(/sentAt\W+([\d.]+)/.exec(Buffer.concat(chunks).toString())?.[1])
    const isFirst = (request.headers['x-svc-attempt'] ?? '1') === '1'
    if (group === 0 && isFirst && !Number.isNaN(sentAt)) arrivals.push([sentAt, now - sentAt])
    const behaviour = behaviours[group] ?? 'quick'
    answered[behaviour] = (answered[behaviour] ?? 0) + 1
    ANSWERS[behaviour](response)
  })
  // Clients give up in the middle of most of these behaviours.
  response.on('error', () => {})
}

const ports: number[][] = []
for (const [group, size] of sizes.entries()) {
  const own: number[] = []
  for (let n = 0; n < size; n++) {
    const server = createServer((request, response) => receive(group, request, response))
    server.keepAliveTimeout = 60_000
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    own.push((server.address() as AddressInfo).port)
  }
  ports.push(own)
}

process.on('message', (question: EndpointsQuestion) => {
  if (question.behave !== undefined) behaviours[question.behave[0]] = question.behave[1]
  process.send?.({ arrivals, answered })
  arrivals = []
  answered = {}
})
process.on('disconnect', () => process.exit())
process.send?.({ ports })
