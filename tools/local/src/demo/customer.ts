import type { Screen } from './screen.ts'
import type { Arrival, Subscriber } from './subscriber.ts'
import { verify } from './verify.ts'

/** The customer of the scenario, who calls agents from outside. */
export interface Customer {
  /** Calls an agent. Resolves to the id of the call. */
  calls(agentUri: string, from: string): Promise<string>
  /** Verifies that no call is left in the contact center. */
  verifyQuiet(): Promise<void>
}

/** A customer at the outside end of a real Asterisk. @param extensions the number of each agent */
export function createCustomer(
  telephonesUrl: string,
  extensions: ReadonlyMap<string, string>,
  { screen, subscriber }: { readonly screen: Screen; readonly subscriber: Subscriber },
): Customer {
  return {
    async calls(agentUri, from) {
      const before = subscriber.arrivals().length
      const number = extensions.get(agentUri) ?? ''
      await screen.request('a customer dials at a real telephone', async () => {
        const { status } = await post(`${telephonesUrl}/calls`, { number, from })
        verify(status === 201, `the customer's call is placed (${status})`)
        return { status, detail: `${from} dials ${number}, the extension of ${agentUri}`, value: undefined }
      })
      const isNew = (arrival: Arrival): boolean =>
        subscriber.arrivals().indexOf(arrival) >= before &&
        arrival.event === 'call.status' &&
        arrival.envelope.data.agentUri === agentUri
      const [first] = await subscriber.waitFor(`the customer's call rings at ${agentUri}`, 1, isNew)
      return first?.envelope.data.callId ?? ''
    },
    async verifyQuiet() {
      const { phones, outside } = (await (await fetch(telephonesUrl)).json()) as {
        readonly phones: readonly { readonly calls: readonly unknown[] }[]
        readonly outside: readonly unknown[]
      }
      const left = outside.length + phones.reduce((sum, { calls }) => sum + calls.length, 0)
      verify(left === 0, `no telephone is left in a call (${left} are)`)
      screen.verified('every telephone is on hook again')
    },
  }
}

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
