import { NoAnswer, type Schemas, SwitchhookError } from '@switchhook/client'
import { type Context, command, type Group, given } from '../command.ts'
import { LIMIT, limitOf, take } from '../options.ts'
import { moment, outcome, toneOf } from '../output/words.ts'

type DeliveriesQuery = Schemas['ListTenantDeliveriesQuery']

const list = command({
  name: 'list',
  summary: 'list deliveries, the latest first',
  options: [
    ['--state <state>', 'pending, waiting, held, acknowledged, parked, withdrawn or expired'],
    ['--subscription <id>', 'only of this subscription'],
    ['--call <id>', 'only of this call'],
    ['--agent <uri>', 'only of this agent'],
    ['--type <type>', 'only of this event type'],
    LIMIT,
  ],
  run: async ({ client, out }, _args, options) => {
    const query = given<DeliveriesQuery>({
      // The API knows the states and types, and names them if one is misspelt.
      state: (options.state ?? 'any') as DeliveriesQuery['state'],
      eventType: options.type as DeliveriesQuery['eventType'],
      subscriptionId: options.subscription,
      callId: options.call,
      agentUri: options.agent,
    })
    out.list(await take(client.deliveries.list(query), limitOf(options)), [
      { title: 'DELIVERY', of: ({ deliveryId }) => deliveryId },
      { title: 'TYPE', of: ({ eventType }) => eventType },
      { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => toneOf(state) },
      { title: 'ATTEMPTS', of: ({ attempts }) => attempts.length },
      { title: 'LAST', of: ({ attempts }) => attempts.slice(-1).map(outcome).join('') },
      { title: 'FIRST DUE', of: ({ firstDueAt }) => moment(firstDueAt) },
      { title: 'NEXT', of: ({ nextAttemptAt }) => moment(nextAttemptAt) },
      { title: 'URL', of: ({ url }) => url },
    ])
  },
})

const show = command({
  name: 'show',
  summary: 'show a delivery and its attempts',
  args: [['<delivery>', 'the id of the delivery']],
  run: async ({ client, out }, [id = '']) => showDelivery(out, await client.deliveries.read(id)),
})

export function showDelivery(out: Context['out'], delivery: Schemas['Delivery']): void {
  out.record(delivery, {
    delivery: delivery.deliveryId,
    event: `${delivery.eventId} (${delivery.eventType})`,
    subscription: delivery.subscriptionId,
    url: delivery.url,
    state: delivery.parkedReason === null ? delivery.state : `${delivery.state}: ${delivery.parkedReason}`,
    'next attempt': moment(delivery.nextAttemptAt),
  })
  if (out.isJson || delivery.attempts.length === 0) return
  out.print('')
  out.list(delivery.attempts, [
    { title: 'ATTEMPT', of: ({ attempt }) => attempt },
    { title: 'AT', of: ({ at }) => moment(at) },
    { title: 'RESULT', of: outcome, tone: (attempt) => toneOf(attempt.outcome) ?? 'bad' },
    { title: 'MS', of: ({ durationMs }) => durationMs },
    { title: 'ANSWER', of: ({ answer, detail }) => [detail, answer].filter((text) => text !== undefined).join('; ') },
  ])
}

export const redeliver = command({
  name: 'redeliver',
  summary: 'send parked or delivered deliveries again',
  args: [['<deliveries...>', 'the ids of the deliveries']],
  run: async ({ client, out }, ids) => {
    const sent = []
    let failure: unknown
    for (const [at, id] of ids.entries()) {
      try {
        sent.push(await client.deliveries.redeliver(id))
      } catch (error) {
        // Only these are about this delivery alone.
        const isOwn = error instanceof SwitchhookError && (error.status === 404 || error.status === 409)
        if (isOwn) {
          failure ??= error
          out.note(`${id}: ${error.message}`)
          continue
        }
        failure = error
        const mayBeSent = (error instanceof NoAnswer || error instanceof SwitchhookError) && error.mayHaveRun
        if (mayBeSent) out.note(`May have been sent: ${id}`)
        const left = ids.slice(mayBeSent ? at + 1 : at)
        if (left.length > 0) out.note(`Not sent: ${left.join(' ')}`)
        break
      }
    }
    out.list(sent, [
      { title: 'DELIVERY', of: ({ deliveryId }) => deliveryId },
      { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => toneOf(state) },
      { title: 'URL', of: ({ url }) => url },
    ])
    if (failure !== undefined) throw failure
  },
})

export const deliveries: Group = { name: 'deliveries', summary: 'list and show deliveries', commands: [list, show] }
