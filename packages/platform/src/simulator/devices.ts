import type { CallId, Tenant } from '@switchhook/contracts'
import type { AdapterStorage, Surroundings } from '../storage.ts'
import type { DeviceState } from './call-group.ts'

/** The stored payload of a device's timer. */
export interface DeviceTimer {
  readonly deviceOf: string
}

/** One active call, and one that rings or is held. */
const LINES = 2
const KEPT_MS = 365 * 24 * 60 * 60_000
const REPORT_AGAIN_MS = 5_000

/** The stored record; its field names must not change. */
interface Device {
  readonly online: boolean
  readonly order: number
  readonly at: string
}

/** The agents' phones. A device without a record is online. */
export function createDevices({
  storage,
  liveCalls,
  listener,
  now,
}: Surroundings & { readonly storage: AdapterStorage }) {
  const read = async (tenant: Tenant, agentUri: string) => {
    const [found] = await storage.read(tenant, [keyOf(agentUri)])
    return { version: found?.version ?? 0, device: found?.value as Device | undefined }
  }

  /** Reports a device again, in case a process died between storing and reporting. Resolves as `set` does. */
  async function report(tenant: Tenant, agentUri: string): Promise<readonly CallId[]> {
    const { device } = await read(tenant, agentUri)
    if (device === undefined) return []
    await listener()?.device({ tenant, agentUri, ...device })
    return device.online ? [] : (await liveCalls(tenant, agentUri)).map(({ callId }) => callId)
  }

  return {
    report,
    async stateOf(tenant: Tenant, agentUri: string): Promise<DeviceState> {
      const [{ device }, calls] = await Promise.all([read(tenant, agentUri), liveCalls(tenant, agentUri)])
      if (device?.online === false) return 'offline'
      return calls.length < LINES ? 'free' : 'busy'
    },
    /** Stores and reports the device. Resolves to the calls that must end because it is offline now. */
    async set(tenant: Tenant, agentUri: string, online: boolean): Promise<readonly CallId[]> {
      for (;;) {
        const { version, device } = await read(tenant, agentUri)
        if ((device?.online ?? true) === online) return []
        const at = new Date(now()).toISOString()
        const value: Device = { online, order: (device?.order ?? 0) + 1, at }
        const result = await storage.write(tenant, {
          records: [{ key: keyOf(agentUri), expectedVersion: version, value, ttlMs: KEPT_MS }],
          timers: [
            {
              id: `simulator:device:${agentUri}`,
              dueInMs: REPORT_AGAIN_MS,
              payload: { deviceOf: agentUri } satisfies DeviceTimer,
            },
          ],
        })
        if (result === 'committed') return report(tenant, agentUri)
      }
    },
  }
}

const keyOf = (agentUri: string): string => `simulated-device:${agentUri}`
