import {
  type AsteriskPlatform,
  asteriskSettings,
  createAsterisk,
  type UnknownChannels,
} from '@switchhook/platform-asterisk'
import type { Base } from '../../../base.ts'
import type { State } from '../../../state/state.ts'
import type { TimerOwners } from '../../../state/timer-loop.ts'
import { liveCallsOf, readAgent } from '../../center/agent.ts'
import { createPbxMemory } from '../pbx-memory.ts'

/** Another replica takes over the events of one that died after this time. */
const LEASE_MS = 5_000

/** `PLATFORM=asterisk`: a PBX behind the API. The replicas share calls, timers and the lease in Redis. */
export function openAsterisk({ config, redis, log, now, installation }: Base, { store }: State) {
  let unknown: UnknownChannels = { count: 0, isHeldBack: false }
  const platform: AsteriskPlatform = createAsterisk({
    ...asteriskSettings(config),
    memory: createPbxMemory(store, redis, now),
    liveCalls: async (tenant, agentUri) => liveCallsOf(await readAgent(store, tenant, agentUri), now()),
    leaseMs: LEASE_MS,
    verifyStorage: installation.verify,
    onError: (message, error) => log.warn(message, { error }),
    onLink: (link) => log[link === 'lost' ? 'warn' : 'info']('the link to Asterisk has changed', { link }),
    onUnknown: (found) => {
      if (found.isHeldBack && !unknown.isHeldBack) {
        log.error('many channels in Asterisk have no stored call; none is removed until an operator decides', {
          channels: found.count,
        })
      }
      unknown = found
    },
    now,
  })
  return {
    platform,
    link: () => platform.link,
    // Only the replica with the event stream compares the calls.
    unknownChannels: () => (platform.link === 'connected' ? unknown.count : 0),
    keysOfCall: () => [],
    timers: { asterisk: (timer) => platform.due(timer) } satisfies TimerOwners,
    simulator: null,
  }
}
