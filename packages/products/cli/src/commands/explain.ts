import { type Client, type Schemas, SwitchhookError } from '@switchhook/client'
import { type Context, command } from '../command.ts'
import { CliError, Exit } from '../failure.ts'
import { withoutControls } from '../output/output.ts'
import { moment, toneOf } from '../output/words.ts'
import { showDelivery } from './deliveries.ts'
import { showRecovery } from './recover.ts'
import { showSubscription } from './subscriptions.ts'

type Explained = Schemas['ExplainedEvent']

export const explain = command({
  name: 'explain',
  summary: 'say what happened to an event, a call, a delivery, a subscription or a recovery',
  args: [['<id>', 'any id, also inside a pasted line; an agent URI, a phone number or a correlation id']],
  run: async ({ client, out }, [text = '']) => {
    const id = GUID.exec(text)?.[0].toLowerCase()
    if (id === undefined) return showEventsAbout(client, out, text)
    // One of them has the id: the API has no lookup over all kinds.
    const [event, delivery, subscription, recovery] = await Promise.all([
      orNothing(client.events.explain(id)),
      orNothing(client.deliveries.read(id)),
      orNothing(client.subscriptions.read(id)),
      orNothing(client.recoveries.read(id)),
    ])
    if (event !== undefined) out.show(event, () => explained(event, out.style))
    else if (delivery !== undefined) showDelivery(out, delivery)
    else if (subscription !== undefined) showSubscription(out, subscription)
    else if (recovery !== undefined) showRecovery(out, recovery)
    else await showEventsAbout(client, out, text, id)
  },
})

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
/** Of a correlation id that the API looks for. */
const MAX_LENGTH = 256
/** Each explanation is a request of its own. */
const MAX_EVENTS = 20

/** The latest events of a call, an agent, a phone number or a correlation id; the oldest first. */
async function showEventsAbout(client: Client, out: Context['out'], pasted: string, callId?: string): Promise<void> {
  const text = pasted.trim()
  const list = async (query: object) => (await client.events.list({ ...query, limit: MAX_EVENTS }).page()).items
  const query =
    callId !== undefined
      ? { callId }
      : /^(sips?|tel):/i.test(text)
        ? { agentUri: text }
        : /^\+?[\d\s().\-/]{4,}$/.test(text)
          ? { number: text }
          : undefined
  let items = query === undefined ? [] : await list(query)
  // A correlation id may look like any of them.
  if (items.length === 0 && text.length <= MAX_LENGTH) items = await list({ correlationId: text })
  if (items.length === 0)
    throw new CliError(Exit.notFound, `Nothing was found for "${text}", or its record has expired.`)
  const found: Explained[] = []
  for (const { eventId } of items.toReversed()) {
    const event = await orNothing(client.events.explain(eventId))
    if (event !== undefined) found.push(event)
  }
  out.show(found, () => found.map((event) => explained(event, out.style)).join('\n\n'))
}

function explained(event: Explained, style: Context['out']['style']): string {
  const title = `${style('bold', event.eventType)}  ${moment(event.occurredAt ?? event.fannedOutAt)}  ${style('dim', event.eventId)}`
  if (event.subscriptions.length === 0) return `${title}\n  No subscription existed.`
  const lines = event.subscriptions.map(({ verdict, explanation, url, subscriptionId, deliveryId }) => {
    const id = deliveryId === null ? '' : ` ${style('dim', `delivery ${deliveryId}`)}`
    return `  ${style(toneOf(verdict) ?? 'dim', verdict)}  ${url ?? subscriptionId}\n    ${withoutControls(explanation)}${id}`
  })
  return [title, ...lines].join('\n')
}

const orNothing = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof SwitchhookError && error.status === 404) return undefined
    throw error
  })
