import type { Observer, VirtualStorage } from '@switchhook/conformance'
import { createSimulator, type Simulator } from '../simulator.ts'

export const [ALICE, BOB, CAROL] = ['alice', 'bob', 'carol'].map((name) => `sip:${name}@acme.example`) as [
  string,
  string,
  string,
]

/** A simulator of three agents whose calls the observer follows. */
export const openSimulator = (storage: VirtualStorage, observer: Observer): Simulator =>
  createSimulator({
    agents: [ALICE, BOB, CAROL].map((agentUri) => ({ agentUri, tenant: 'acme', device: 'SIM/1' })),
    scenario: null,
    storage,
    liveCalls: async (_tenant, agentUri) => observer.liveLegs(agentUri),
    onError: () => {},
    now: () => storage.nowMs,
  })
