import type { Schemas } from '@switchhook/client'
import { type Context, command, type Group, given } from '../command.ts'
import { CliError, Exit, usage } from '../failure.ts'
import { durationMs, LIMIT, limitOf, take, typesIn } from '../options.ts'
import { moment, subscriptionState, toneOf } from '../output/words.ts'

const ID = ['<subscription>', 'the id of the subscription'] as const
const EXTERNAL_ID = ['--external-id <id>', 'your own name for it, unique in your tenant'] as const
const FILTER = [
  '--filter <json>',
  'which events of a type to deliver, such as {"call.status":{"state":[3,7]}}',
] as const
const EXPIRE_AFTER = ['--expire-after <time>', 'do not send older events, such as 5m; none: send all'] as const
const TYPES = ['--types <types>', 'event types, separated by commas; * for all'] as const

const list = command({
  name: 'list',
  summary: 'list subscriptions and the health of their endpoints',
  options: [EXTERNAL_ID, LIMIT],
  run: async ({ client, out }, _args, options) => {
    const query = given<Schemas['ListSubscriptionsQuery']>({ externalId: options.externalId })
    out.list(await take(client.subscriptions.list(query), limitOf(options)), [
      { title: 'SUBSCRIPTION', of: ({ id }) => id },
      { title: 'STATE', of: (each) => subscriptionState(each), tone: (each) => toneOf(subscriptionState(each)) },
      { title: 'PARKED', of: ({ parked }) => parked.count },
      { title: 'TYPES', of: ({ eventTypes }) => eventTypes.join(',') },
      { title: 'URL', of: ({ url }) => url },
    ])
  },
})

const show = command({
  name: 'show',
  summary: 'show a subscription',
  args: [ID],
  run: async ({ client, out }, [id = '']) => showSubscription(out, await client.subscriptions.read(id)),
})

export function showSubscription(
  out: Context['out'],
  subscription: Schemas['Subscription'] & { readonly secret?: string },
): void {
  const { url, description, filter, secret, health } = subscription
  const { lastFailureAt, lastFailureStatus, lastFailureOutcome } = health
  out.record(subscription, {
    subscription: subscription.id,
    url,
    types: subscription.eventTypes.join(','),
    description,
    'external id': subscription.externalId,
    filter: filter && JSON.stringify(filter),
    headers: Object.keys(subscription.headers ?? {}).join(',') || null,
    'expire after': subscription.expireAfterSeconds === null ? null : `${subscription.expireAfterSeconds} s`,
    state: subscriptionState(subscription),
    'failing since': moment(health.failingSince),
    'last failure': lastFailureAt && `${lastFailureStatus ?? lastFailureOutcome} at ${moment(lastFailureAt)}`,
    'cool-down until': moment(health.openUntil),
    parked: subscription.parked.count,
    held: subscription.held.count,
    secret,
  })
}

/** What was set and is probably not meant. */
function showWarnings(out: Context['out'], { warnings }: Schemas['Subscription']): void {
  for (const { detail } of warnings) out.note(`Warning: ${detail}`)
}

/** The API names what is wrong with a filter that is JSON. */
export function filterIn(text: string): Schemas['SubscriptionInput']['filter'] {
  try {
    return JSON.parse(text) as Schemas['SubscriptionInput']['filter']
  } catch {
    throw usage('--filter is not JSON. Quote it for the shell: --filter \'{"call.status":{"state":[7]}}\'')
  }
}

const create = command({
  name: 'create',
  summary: 'create a subscription; its secret is shown only now',
  args: [['<url>', 'the endpoint']],
  options: [
    TYPES,
    FILTER,
    EXTERNAL_ID,
    EXPIRE_AFTER,
    ['--description <text>', 'a label'],
    ['--disabled', 'create it disabled'],
  ],
  run: async ({ client, out }, [url = ''], options) => {
    const { types = 'call.status,agent.status', externalId, disabled, ...rest } = options
    const more = { ...(externalId !== undefined && { externalId }), ...(disabled && { enabled: false }) }
    const fields = { url, eventTypes: typesIn(types), ...fieldsIn(rest), ...more }
    const created = await client.subscriptions.create(fields)
    showSubscription(out, created)
    showWarnings(out, created)
    out.note('Store the secret now: no later answer shows it.')
  },
})

const change = command({
  name: 'change',
  summary: 'change, enable or disable a subscription',
  args: [ID],
  options: [
    ['--url <url>', 'another endpoint'],
    TYPES,
    [FILTER[0], `${FILTER[1]}; null: all`],
    EXPIRE_AFTER,
    ['--description <text>', 'a label'],
    ['--enable', 'deliver'],
    ['--disable', 'deliver nothing more'],
  ],
  run: async ({ client, out }, [id = ''], options) => {
    const { url, enable, disable, ...rest } = options
    if (enable && disable) throw usage('Choose one: --enable or --disable.')
    const more = given<Schemas['SubscriptionChange']>({ url, enabled: enable ?? (disable && false) })
    const changed = { ...fieldsIn(rest), ...more }
    if (Object.keys(changed).length === 0) throw usage('No change is given: use an option such as --disable.')
    const after = await client.subscriptions.change(id, changed)
    showSubscription(out, after)
    showWarnings(out, after)
  },
})

type FieldOptions = Partial<Readonly<Record<'types' | 'filter' | 'description' | 'expireAfter', string>>>

/** The fields that are set in the same way at first and later. */
const fieldsIn = ({ types, filter, description, expireAfter }: FieldOptions) =>
  given<Pick<Schemas['SubscriptionInput'], 'description' | 'filter' | 'eventTypes' | 'expireAfterSeconds'>>({
    description,
    filter: filter === undefined ? undefined : filterIn(filter),
    eventTypes: types === undefined ? undefined : typesIn(types),
    // `none` removes the setting.
    expireAfterSeconds:
      expireAfter === undefined ? undefined : expireAfter === 'none' ? null : durationMs(expireAfter) / 1_000,
  })

const remove = command({
  name: 'delete',
  summary: 'delete a subscription; deliveries that have failed keep their schedule',
  args: [ID],
  run: async ({ client, out }, [id = '']) => {
    await client.subscriptions.delete(id)
    out.note(`The subscription ${id} is deleted.`)
  },
})

const rotate = command({
  name: 'rotate-secret',
  summary: 'replace the signing secret; the new one is shown only now',
  args: [ID],
  options: [['--overlap <time>', 'how long the previous secret signs too, such as 24h; 0s if it has leaked']],
  run: async ({ client, out }, [id = ''], { overlap }) => {
    const body = overlap === undefined ? {} : { overlapSeconds: durationMs(overlap) / 1_000 }
    const rotated = await client.subscriptions.rotateSecret(id, body)
    out.record(rotated, { secret: rotated.secret, 'previous valid until': moment(rotated.previousValidUntil) })
  },
})

export const check = command({
  name: 'check',
  summary: 'check what the receiver of a subscription gets wrong; takes up to 20 s',
  args: [ID, ['[type]', 'the event type of the examples']],
  run: async ({ client, out }, [id = '', eventType]) => {
    out.progress('Checking the receiver …')
    const report = await client.subscriptions.check(id, given<Schemas['Trial']>({ eventType: eventType as never }))
    if (out.isJson) out.show(report, String)
    else {
      out.list(report.findings, [
        { title: 'CHECK', of: ({ check }) => check },
        { title: 'RESULT', of: ({ result }) => result, tone: ({ result }) => toneOf(result) },
        { title: 'SEEN', of: ({ seen }) => seen },
      ])
    }
    const advice = report.findings.flatMap(({ check, advice: text }) => (text === null ? [] : [`${check}: ${text}`]))
    if (report.verdict !== 'good') throw new CliError(Exit.finding, advice.join('\n') || 'The receiver needs work.')
  },
})

export const subscriptions: Group = {
  name: 'subscriptions',
  summary: 'list, show, create, change and delete subscriptions',
  commands: [list, show, create, change, remove, rotate],
}
