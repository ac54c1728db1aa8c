import { type AsteriskPlatform, createAsterisk } from '@switchhook/platform'
import { createFollowedRecords, createLeaseStore } from '@switchhook/store'
import { readAgent } from '../../agents/agent.ts'
import type { Base } from '../../feature.ts'
import type { State } from '../../state/state.ts'
import type { TimerOwners } from '../../state/timer-loop.ts'
import { asteriskSettings } from './asterisk-config.ts'
import { createPbxMemory } from './pbx-memory.ts'

/** Another replica takes over the events of one that died after this time. */
const LEASE_MS = 5_000

/** `PLATFORM=asterisk`: a PBX behind the API. The replicas share calls, timers and the lease in Redis. */
export function openAsteriskPlatform({ config, redis, log, now }: Base, { store, timers }: State) {
  const platform: AsteriskPlatform = createAsterisk({
    ...asteriskSettings(config),
    memory: createPbxMemory({
      store,
      followed: createFollowedRecords(redis, now),
      leases: createLeaseStore(redis),
      expectTimer: (dueInMs) => timers.expect(dueInMs),
    }),
    liveCalls: async (tenant, agentUri) => (await readAgent(store, tenant, agentUri)).calls.map(({ callId }) => callId),
    leaseMs: LEASE_MS,
    onError: (message, error) => log.warn(message, { error }),
    onLink: (link) => log[link === 'lost' ? 'warn' : 'info']('the link to Asterisk has changed', { link }),
    now,
  })
  return {
    platform,
    link: () => platform.link,
    keysOfCall: () => [],
    timers: { asterisk: (timer) => platform.due(timer) } satisfies TimerOwners,
    developmentRoutes: [],
  }
}
