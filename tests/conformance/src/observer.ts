import { type CallId, CallState, type CallStatus } from '@switchhook/contracts'
import { applyReport, type DeviceReport, type Leg, type LegReport, NEXT } from '@switchhook/platform'

export type Observer = ReturnType<typeof createObserver>

/** A listener for tests. It applies the call model to the reports, as the api does. */
export function createObserver() {
  const legs = new Map<string, Leg>()
  const events = new Map<string, CallStatus[]>()
  const received: LegReport[] = []
  const devices: DeviceReport[] = []
  const faults: string[] = []

  function apply(report: LegReport): void {
    const key = keyOf(report.callId, report.agentUri)
    const leg = legs.get(key)
    const next = applyReport(leg, report)
    if (next === undefined) {
      const isNewer = leg !== undefined && report.order > leg.order
      const isForbidden = isNewer && leg.status.state !== report.state && !NEXT[leg.status.state].includes(report.state)
      if (isForbidden) faults.push(`${key}: from ${leg.status.state} to ${report.state}`)
      if (isNewer && leg.status.state === CallState.ended) faults.push(`${key}: ${report.state} after the end`)
      return
    }
    legs.set(key, next)
    events.set(key, [...(events.get(key) ?? []), next.status])
  }

  const liveLegs = (agentUri: string): readonly CallStatus[] =>
    [...legs.values()]
      .map(({ status }) => status)
      .filter((status) => status.agentUri === agentUri && status.state !== CallState.ended)

  const observer = {
    /** If set, the listener rejects with it, so that reports must be repeated. */
    outage: undefined as Error | undefined,
    listener: {
      legs: async (reports: readonly LegReport[]): Promise<void> => {
        if (observer.outage !== undefined) throw observer.outage
        received.push(...reports)
        for (const report of reports) apply(report)
      },
      device: async (report: DeviceReport): Promise<void> => {
        if (observer.outage !== undefined) throw observer.outage
        devices.push(report)
      },
    },
    /** The events of a leg, as the api would publish them. */
    eventsOf: (callId: CallId, agentUri: string): readonly CallStatus[] => events.get(keyOf(callId, agentUri)) ?? [],
    latest: (callId: CallId, agentUri: string): CallStatus | undefined => legs.get(keyOf(callId, agentUri))?.status,
    reports: (): readonly LegReport[] => received,
    devices: (): readonly DeviceReport[] => devices,
    liveLegs,
    liveCalls: (agentUri: string): readonly CallId[] => liveLegs(agentUri).map(({ callId }) => callId),
    /** @throws if a report has broken a rule that holds for every platform and every command */
    verify(): void {
      expect(faults).toEqual([])
      for (const report of received) {
        expect(report.ending !== null).toBe(report.state === CallState.ended)
      }
      for (const list of events.values()) {
        expect(list.filter(({ state }) => state === CallState.ended).length).toBeLessThanOrEqual(1)
        expect(list.map(({ sequence }) => sequence)).toEqual(list.map((_event, at) => at + 1))
      }
    },
  }
  return observer
}

const keyOf = (callId: CallId, agentUri: string): string => `${callId} ${agentUri}`
