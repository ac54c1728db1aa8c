import type { Surroundings } from '../storage.ts'
import type { PbxAgent } from './agents.ts'
import type { PbxMemory } from './store/memory.ts'

export interface DevicesDeps extends Pick<Surroundings, 'listener' | 'onError' | 'now'> {
  readonly memory: PbxMemory
}

/** The payload of a device's timer. `since` is the order of the offline state that set it. */
export interface DeviceTimer {
  readonly deviceOf: string
  readonly since: number
}

export type Devices = ReturnType<typeof createDevices>

interface Device {
  readonly online: boolean
  readonly order: number
  readonly at: string
}

/** A phone that registers again within this time keeps its calls. */
const DEVICE_GRACE_MS = 2_000
const KEPT_MS = 365 * 24 * 60 * 60_000
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000

/** Whether the agents' phones are registered. A phone without a stored state counts as online. */
export function createDevices({ memory, listener, onError, now }: DevicesDeps) {
  async function read({ tenant, agentUri }: PbxAgent) {
    const [found] = await memory.read(tenant, [keyOf(agentUri)])
    return { version: found?.version ?? 0, device: found?.value as Device | undefined }
  }

  /** The order that this process reported last. A state that another process stored may not have been reported. */
  const reported = new Map<PbxAgent, number>()

  async function report(agent: PbxAgent, pauseMs = FIRST_PAUSE_MS): Promise<void> {
    const { device } = await read(agent)
    if (device === undefined || reported.get(agent) === device.order) return
    const { tenant, agentUri } = agent
    await listener()
      ?.device({ tenant, agentUri, ...device })
      .then(() => reported.set(agent, device.order))
      .catch((error: unknown) => {
        if (pauseMs === FIRST_PAUSE_MS) onError('a device could not be reported, will try again', error)
        // oxlint-disable-next-line no-restricted-globals -- a pause before a repeat: no answer is awaited
        setTimeout(() => void report(agent, Math.min(pauseMs * 2, MAX_PAUSE_MS)).catch(() => {}), pauseMs)
      })
  }

  return {
    /** Stores and reports the state, if it is a new one. */
    async set(agent: PbxAgent, online: boolean): Promise<void> {
      for (;;) {
        const { version, device } = await read(agent)
        if ((device?.online ?? true) === online) return
        const order = (device?.order ?? 0) + 1
        const value: Device = { online, order, at: new Date(now()).toISOString() }
        const timer = { deviceOf: agent.agentUri, since: order } satisfies DeviceTimer
        const result = await memory.write(agent.tenant, {
          records: [{ key: keyOf(agent.agentUri), expectedVersion: version, value, ttlMs: KEPT_MS, isListed: false }],
          timers: [{ id: `asterisk:device:${agent.agentUri}`, dueInMs: DEVICE_GRACE_MS, payload: timer }],
        })
        if (result === 'committed') return report(agent)
      }
    },
    /** Whether the device is still offline since the timer was set. Also repeats the report, in case a process died before it. */
    async isStillGone(agent: PbxAgent, since: number): Promise<boolean> {
      await report(agent)
      const { device } = await read(agent)
      return device !== undefined && !device.online && device.order === since
    },
  }
}

const keyOf = (agentUri: string): string => `asterisk-device:${agentUri}`
