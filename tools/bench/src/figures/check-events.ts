/** An event as its endpoint received it. */
export interface HeardEvent {
  readonly eventType: string
  readonly data: {
    readonly callId?: string
    readonly agentUri: string
    readonly sequence: number
    readonly state?: number
  }
}

interface EventCheck {
  /** Missing sequence numbers between the first and the last of a leg or an agent. */
  readonly missing: number
  /** Legs without an event of their end. */
  readonly unended: number
}

/** Checks the sequences: every leg from 1 to its end, every agent without a gap. */
export function checkEvents(events: readonly HeardEvent[]): EventCheck {
  const streams = new Map<string, HeardEvent[]>()
  for (const event of events) {
    const { callId = '', agentUri } = event.data
    const key = `${event.eventType} ${callId} ${agentUri}`
    streams.set(key, [...(streams.get(key) ?? []), event])
  }
  let missing = 0
  let unended = 0
  for (const stream of streams.values()) {
    const sequences = new Set(stream.map(({ data }) => data.sequence))
    const isLeg = stream[0]?.eventType === 'call.status'
    // An agent's events may have started before.
    const first = isLeg ? 1 : Math.min(...sequences)
    missing += Math.max(...sequences) - first + 1 - sequences.size
    if (isLeg && !stream.some(({ data }) => data.state === 7)) unended += 1
  }
  return { missing, unended }
}
