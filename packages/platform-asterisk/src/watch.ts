import { randomUUID } from 'node:crypto'
import { type AriServer, createAriClient } from './ari/ari-client.ts'
import type { AriEndpoint, AriEvent } from './ari/ari-model.ts'
import { openEventSocket } from './ari/event-socket.ts'
import { reach } from './ari/read-calls.ts'

export type Watch = Awaited<ReturnType<typeof watchAsterisk>>

/**
 * Shows the phones of an Asterisk and what happens on them. Changes nothing there: every request is a GET, so a user with
 * `read_only = yes` suffices, and calls need not be handed over to an application.
 * @throws PlatformUnavailable with the reason if Asterisk cannot be reached
 */
export async function watchAsterisk(server: AriServer, show: (line: string) => void) {
  const ari = createAriClient(server)
  try {
    await reach(ari)
    const { body } = await ari.request('GET', '/endpoints/PJSIP')
    /** The last line of each endpoint: Asterisk may report one change by two events. */
    const shown = new Map<string, string>()
    const showOnce = (line: string, { resource }: AriEndpoint): void => {
      if (shown.get(resource) !== line) show(line)
      shown.set(resource, line)
    }
    for (const endpoint of body as readonly AriEndpoint[]) showOnce(describeEndpoint(endpoint), endpoint)
    const socket = await openEventSocket({
      server,
      // A name of its own, so that it takes no events away from a running Switchhook.
      app: `switchhook-watch-${randomUUID()}`,
      all: true,
      onEvent: (event) => {
        const line = describeEvent(event)
        if (line === undefined) return
        if (event.endpoint === undefined) show(line)
        else showOnce(line, event.endpoint)
      },
    })
    return {
      /** Resolves with the reason when the stream of events has ended. */
      closed: socket.closed,
      close: async (): Promise<void> => {
        socket.close()
        await ari.close()
      },
    }
  } catch (error) {
    await ari.close()
    throw error
  }
}

const describeEndpoint = ({ resource, state }: AriEndpoint): string => `endpoint ${resource}: ${state ?? 'unknown'}`

/** One line for an event about a phone or a call; undefined for all others. Pure. */
export function describeEvent({ type, channel, endpoint, cause }: AriEvent): string | undefined {
  if (type === 'ContactStatusChange' || type === 'PeerStatusChange') {
    return endpoint && describeEndpoint(endpoint)
  }
  if (channel === undefined) return undefined
  switch (type) {
    case 'ChannelCreated':
      return `${channel.name}: created, caller ${channel.caller.number || 'unknown'}`
    case 'ChannelStateChange':
      return `${channel.name}: ${channel.state.toLowerCase()}`
    case 'ChannelHold':
      return `${channel.name}: holds`
    case 'ChannelUnhold':
      return `${channel.name}: resumes`
    case 'ChannelDestroyed':
      return `${channel.name}: ended, cause ${cause ?? 0}`
    default:
      return undefined
  }
}
