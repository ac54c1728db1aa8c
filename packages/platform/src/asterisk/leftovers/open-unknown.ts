import { type AriServer, createAriClient } from '../ari/ari-client.ts'
import { createReach } from '../ari/reach.ts'
import { readCalls } from '../ari/read-calls.ts'
import type { PbxMemory } from '../store/memory.ts'
import { loadSession } from '../store/session-store.ts'
import { type FoundUnknown, findUnknown } from './unknown-channels.ts'

export interface UnknownOptions {
  readonly server: AriServer
  readonly app: string
  readonly memory: Pick<PbxMemory, 'read'>
  /** Rejects unless the memory holds the calls of an installation. */
  readonly verifyStorage: () => Promise<void>
}

/** For an operator: the channels in Asterisk that belong to no stored call. */
export interface UnknownInAsterisk {
  /** @throws PlatformUnavailable if Asterisk cannot be reached; rejects as `verifyStorage` does */
  list(): Promise<readonly FoundUnknown[]>
  /**
   * Ends a channel, even during a conversation. Resolves if it is gone already.
   * @throws AriUnavailable, or Error if Asterisk refuses
   */
  remove(channel: Pick<FoundUnknown, 'id'>): Promise<void>
  close(): Promise<void>
}

export function openUnknown({ server, app, memory, verifyStorage }: UnknownOptions): UnknownInAsterisk {
  const ari = createAriClient(server)
  const reach = createReach(ari)
  const store: Parameters<typeof findUnknown>[1] = { load: (tenant, callId) => loadSession(memory, tenant, callId) }
  return {
    async list() {
      await reach()
      const unknown = await findUnknown(app, store, await readCalls(ari))
      // After the reads: an emptied Redis knows no call.
      await verifyStorage()
      return unknown
    },
    async remove({ id }) {
      const path = `/channels/${encodeURIComponent(id)}`
      const { status } = await ari.request('DELETE', path)
      const isGone = (status >= 200 && status < 300) || status === 404
      if (!isGone) throw new Error(`Asterisk answered ${status} to DELETE ${path}`)
    },
    close: () => ari.close(),
  }
}
