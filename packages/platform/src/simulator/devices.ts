import type { CallId } from '@switchhook/contracts'
import type { PlatformListener } from '../platform.ts'
import type { DeviceState } from './call-group.ts'
import type { SimulatorMemory } from './storage.ts'

export interface DevicesDeps {
  readonly memory: SimulatorMemory
  /** Calls in which the agent has a live leg, ringing ones included. */
  readonly liveCalls: (tenant: string | null, agentUri: string) => Promise<readonly CallId[]>
  readonly listener: () => PlatformListener | undefined
  readonly now: () => number
}

/** What the timer of a device carries. */
export interface DeviceTimer {
  readonly deviceOf: string
}

export interface Devices {
  stateOf(tenant: string | null, agentUri: string): Promise<DeviceState>
  /** Resolves to the calls that the device has left in the lurch. */
  set(tenant: string | null, agentUri: string, online: boolean): Promise<readonly CallId[]>
  /** Tells again how it is: a process may have died between storing and telling. */
  tell(tenant: string | null, agentUri: string): Promise<readonly CallId[]>
}

/** One call to talk on, and one that waits or is held. */
const LINES = 2
const KEPT_MS = 365 * 24 * 60 * 60_000
const TELL_AGAIN_MS = 5_000

interface Device {
  readonly online: boolean
  readonly order: number
  readonly at: string
}

/** The agents' phones: whether they can be reached, and whether they take one more call. */
export function createDevices({ memory, liveCalls, listener, now }: DevicesDeps): Devices {
  const read = async (tenant: string | null, agentUri: string) => {
    const [found] = await memory.read(tenant, [keyOf(agentUri)])
    return { version: found?.version ?? 0, device: found?.value as Device | undefined }
  }

  async function tell(tenant: string | null, agentUri: string): Promise<readonly CallId[]> {
    const { device } = await read(tenant, agentUri)
    if (device === undefined) return []
    await listener()?.device({ tenant, agentUri, ...device })
    return device.online ? [] : liveCalls(tenant, agentUri)
  }

  return {
    tell,
    async stateOf(tenant, agentUri) {
      const [{ device }, calls] = await Promise.all([read(tenant, agentUri), liveCalls(tenant, agentUri)])
      if (device?.online === false) return 'offline'
      return calls.length < LINES ? 'free' : 'busy'
    },
    async set(tenant, agentUri, online) {
      for (;;) {
        const { version, device } = await read(tenant, agentUri)
        if ((device?.online ?? true) === online) return []
        const at = new Date(now()).toISOString()
        const value: Device = { online, order: (device?.order ?? 0) + 1, at }
        const result = await memory.write(tenant, {
          records: [{ key: keyOf(agentUri), expectedVersion: version, value, ttlMs: KEPT_MS }],
          timers: [
            {
              id: `simulator:device:${agentUri}`,
              dueInMs: TELL_AGAIN_MS,
              payload: { deviceOf: agentUri } satisfies DeviceTimer,
            },
          ],
        })
        if (result === 'committed') return tell(tenant, agentUri)
      }
    },
  }
}

const keyOf = (agentUri: string): string => `simulated-device:${agentUri}`
