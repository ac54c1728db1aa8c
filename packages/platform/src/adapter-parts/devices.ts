import type { Tenant } from '@switchhook/contracts'
import type { DeviceReport } from '../platform.ts'
import type { AdapterStorage, Surroundings } from './storage.ts'

export interface DevicesDeps extends Pick<Surroundings, 'listener' | 'onError' | 'now'> {
  readonly storage: AdapterStorage
  /** Names the stored records and timers, so it must not change. */
  readonly prefix: { readonly record: string; readonly timer: string }
  /** A device's timer falls due this long after a change. */
  readonly timerMs: number
}

/** The stored payload of a device's timer. `since` is the order of the state that set it. */
export interface DeviceTimer {
  readonly deviceOf: string
  readonly since: number
}

/** The stored record; its field names must not change. */
type Device = Pick<DeviceReport, 'online' | 'order' | 'at'>

export type Devices = ReturnType<typeof createDevices>

const KEPT_MS = 365 * 24 * 60 * 60_000

/** The states of the agents' phones. A phone without a record is online. */
export function createDevices({ storage, listener, onError, now, prefix, timerMs }: DevicesDeps) {
  /** The order and time of the change of each device that this process reported last. A restored storage repeats orders. */
  const reported = new Map<string, string>()
  const keyOf = (agentUri: string): string => `${prefix.record}:${agentUri}`

  async function read(tenant: Tenant, agentUri: string) {
    const [found] = await storage.read(tenant, [keyOf(agentUri)])
    return { version: found?.version ?? 0, device: found?.value as Device | undefined }
  }

  /**
   * Reports the stored state, unless this process has. Resolves to that state. Call it when the device's timer is due, in case
   * that a process died between storing and reporting. If it rejects, the timer must be repeated.
   */
  async function report(tenant: Tenant, agentUri: string): Promise<Device | undefined> {
    const { device } = await read(tenant, agentUri)
    const to = listener()
    if (device === undefined || to === undefined) return device
    const name = JSON.stringify([tenant, agentUri])
    const change = `${device.order} ${device.at}`
    if (reported.get(name) !== change) await to.device({ tenant, agentUri, ...device })
    reported.set(name, change)
    return device
  }

  return {
    report,
    isOnline: async (tenant: Tenant, agentUri: string) => (await read(tenant, agentUri)).device?.online ?? true,
    /** Stores and reports the state. False: it is not new. */
    async set(tenant: Tenant, agentUri: string, online: boolean): Promise<boolean> {
      for (;;) {
        const { version, device } = await read(tenant, agentUri)
        if ((device?.online ?? true) === online) return false
        // Rises also after the record has expired: the listener does not forget the order.
        const order = Math.max((device?.order ?? 0) + 1, now())
        const value: Device = { online, order, at: new Date(now()).toISOString() }
        const payload: DeviceTimer = { deviceOf: agentUri, since: order }
        const result = await storage.write(tenant, {
          records: [{ key: keyOf(agentUri), expectedVersion: version, value, ttlMs: KEPT_MS }],
          timers: [{ id: `${prefix.timer}:${agentUri}`, dueInMs: timerMs, payload }],
        })
        if (result === 'conflict') continue
        await report(tenant, agentUri).catch((error: unknown) =>
          onError('a device could not be reported, will try again', error),
        )
        return true
      }
    },
  }
}
