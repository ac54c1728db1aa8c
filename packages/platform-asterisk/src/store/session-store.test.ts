import type { StorageChange } from '@switchhook/platform'
import { lineSession } from '../ari/channel-mark.ts'
import { beginLine } from '../session/begin.ts'
import type { PbxSession } from '../session/session.ts'
import { createSessionStore } from './session-store.ts'

const AGENT = 'sip:alice@acme.example'

async function ttlMsOf(session: PbxSession): Promise<number | undefined> {
  const changes: StorageChange[] = []
  const store = createSessionStore({
    read: async () => [],
    write: async (_tenant, change) => (changes.push(change), 'committed'),
    list: async () => [],
    lease: async () => true,
    release: async () => {},
  })
  await store.save(session, 0, [], {})
  return changes[0]?.records[0]?.ttlMs
}

test('a session with a live channel does not expire, however long nothing changes', async () => {
  const opens = { kind: 'line-opens', agentUri: AGENT, channelId: 'line' } as const
  const { session } = beginLine(lineSession('acme', AGENT), opens, Date.UTC(2026, 0, 1))
  expect(await ttlMsOf(session)).toBe(0)
  const closed = session.channels.map((channel) => ({ ...channel, state: 'gone' as const }))
  expect(await ttlMsOf({ ...session, channels: closed })).toBeGreaterThan(0)
})
