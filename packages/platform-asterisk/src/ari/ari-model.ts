import { withoutHalfPairs } from '@switchhook/contracts'

/** The parts of Asterisk's models that the adapter reads. */
export interface AriChannel {
  readonly id: string
  /** Names the channel in AMI. */
  readonly name: string
  readonly state: string
  readonly creationtime: string
  readonly caller: { readonly name: string; readonly number: string }
  readonly dialplan: { readonly app_name: string; readonly app_data: string }
  readonly channelvars?: Readonly<Record<string, string>>
}

export interface AriBridge {
  readonly id: string
  readonly name: string
  /** `holding`: its channels wait on music. */
  readonly bridge_type: string
  readonly channels: readonly string[]
}

export interface AriEndpoint {
  readonly resource: string
  readonly state?: string
}

/** The fields of any event that the adapter reads, all optional because they come from outside. */
export interface AriEvent {
  readonly type: string
  readonly timestamp?: string
  readonly asterisk_id?: string
  readonly channel?: AriChannel
  readonly endpoint?: AriEndpoint
  readonly args?: readonly string[]
  /** Of `Dial`: the channel that is called, and how far the call is. */
  readonly peer?: AriChannel
  readonly dialstatus?: string
  readonly cause?: number
  readonly tech_cause?: number
  readonly soft?: boolean
  readonly refer_to?: {
    readonly requested_destination?: { readonly destination?: string }
    readonly destination_channel?: AriChannel
  }
  /** Of `ChannelTransfer`: what we have told the phone. Absent: the phone asks for the transfer. */
  readonly state?: string
  readonly referred_by?: { readonly source_channel?: AriChannel }
}

/** @returns undefined if the text is not JSON, such as an empty one */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(withoutHalfPairs(text))
  } catch {
    return undefined
  }
}

/** @returns undefined if the text is not an event */
export function parseEvent(text: string): AriEvent | undefined {
  const value = parseJson(text)
  const isEvent = typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  return isEvent ? (value as AriEvent) : undefined
}
