import type { Server } from 'node:http'
import { createNetworkMatcher } from '@switchhook/egress'
import { networkOf } from './limit-bad-tokens.ts'

export interface ConnectionLimits {
  readonly total: number
  readonly perAddress: number
  /** A proxy has the connections of many clients. */
  readonly isExempt: (address: string | undefined) => boolean
}

export const connectionLimitsOf = (config: {
  readonly CONNECTION_LIMIT: number
  readonly CONNECTION_LIMIT_PER_ADDRESS: number
  readonly TRUST_PROXY: readonly string[]
  readonly TRUSTED_NETWORKS: readonly string[]
}): ConnectionLimits => ({
  total: config.CONNECTION_LIMIT,
  perAddress: config.CONNECTION_LIMIT_PER_ADDRESS,
  isExempt: createNetworkMatcher([...config.TRUST_PROXY, ...config.TRUSTED_NETWORKS]),
})

/** Closes a connection over a limit at once, before anything is read from it. */
export function limitConnections(server: Server, { total, perAddress, isExempt }: ConnectionLimits): void {
  server.maxConnections = total
  const counts = new Map<string, number>()
  server.on('connection', (socket) => {
    if (isExempt(socket.remoteAddress)) return
    const address = networkOf(socket.remoteAddress)
    const count = counts.get(address) ?? 0
    if (count >= perAddress) return void socket.resetAndDestroy()
    counts.set(address, count + 1)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
  })
}
