import { PEOPLE } from '../asterisk/people.ts'
import type { Screen } from './screen.ts'
import type { Arrival, Subscriber } from './subscriber.ts'
import { verify } from './verify.ts'

export type Customer = ReturnType<typeof createCustomer>

/** The customer of the scenario, who calls agents from outside: here, from the outside end of a real Asterisk. */
export function createCustomer(telephonesUrl: string, screen: Screen, subscriber: Subscriber) {
  return {
    /** Calls an agent. Resolves to the id of the call. */
    async calls(agentUri: string, from: string): Promise<string> {
      const before = subscriber.arrivals().length
      const number = PEOPLE.find((person) => person.agentUri === agentUri)?.extension
      const order = { method: 'POST', body: JSON.stringify({ number, from }) }
      const { status } = await screen.fetch(`${telephonesUrl}/calls`, order)
      verify(status === 201, `the customer's call is placed (${status})`)
      const isNew = (arrival: Arrival): boolean =>
        subscriber.arrivals().indexOf(arrival) >= before &&
        arrival.event === 'call.status' &&
        arrival.envelope.data.agentUri === agentUri
      const [first] = await subscriber.waitFor(`the customer's call rings at ${agentUri}`, 1, isNew)
      return first?.envelope.data.callId ?? ''
    },
    /** Verifies that no call is left in the contact center. */
    async verifyQuiet(): Promise<void> {
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
