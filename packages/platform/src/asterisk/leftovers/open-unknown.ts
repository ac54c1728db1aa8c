import type { PbxMemory } from '../../storage.ts'
import { type AriServer, createAriClient } from '../ari/ari-client.ts'
import { createReach } from '../ari/reach.ts'
import { readCalls } from '../ari/read-calls.ts'
import { loadSession } from '../store/session-store.ts'
import { type FoundUnknown, findUnknown } from './unknown-channels.ts'

export interface UnknownOptions {
  readonly server: AriServer
  readonly app: string
  readonly memory: Pick<PbxMemory, 'read'>
  /** Rejects unless the memory holds the calls of an installation. */
  readonly verifyStorage: () => Promise<void>
}

export type UnknownInAsterisk = ReturnType<typeof openUnknown>

/** For an operator: the channels in Asterisk that belong to no stored call. */
export function openUnknown({ server, app, memory, verifyStorage }: UnknownOptions) {
  const ari = createAriClient(server)
  const reach = createReach(ari)
  const store: Parameters<typeof findUnknown>[1] = { load: (tenant, callId) => loadSession(memory, tenant, callId) }
  return {
    /** @throws PlatformUnavailable if Asterisk cannot be reached; rejects as `verifyStorage` does */
    async list(): Promise<readonly FoundUnknown[]> {
      await reach()
      const unknown = await findUnknown(app, store, await readCalls(ari))
      // After the reads: an emptied Redis knows no call.
      await verifyStorage()
      return unknown
    },
    /**
     * Ends a channel, even during a conversation. Resolves if it is gone already.
     * @throws AriUnavailable, or Error if Asterisk refuses
     */
    async remove({ id }: Pick<FoundUnknown, 'id'>): Promise<void> {
      const path = `/channels/${encodeURIComponent(id)}`
      const { status } = await ari.request('DELETE', path)
      const isGone = (status >= 200 && status < 300) || status === 404
      if (!isGone) throw new Error(`Asterisk answered ${status} to DELETE ${path}`)
    },
    close: (): Promise<void> => ari.close(),
  }
}
