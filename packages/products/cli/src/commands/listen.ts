import type { Schemas } from '@switchhook/client'
import { type Context, command } from '../command.ts'
import { usage } from '../failure.ts'
import { outcomeText } from '../listen/forward.ts'
import { listen } from '../listen/listen.ts'
import { ensureSubscription, skipBacklog } from '../listen/subscription.ts'
import { typesIn } from '../options.ts'
import { clock, deliveries, subscriptionState, toneOf } from '../output/words.ts'
import { filterIn } from './subscriptions.ts'

export const listenCommand = command({
  name: 'listen',
  summary: 'receive deliveries on this machine, until Ctrl+C; deliveries that arrive meanwhile wait',
  options: [
    ['--forward-to <address>', 'POST each delivery there: 3000, or http://localhost:3000/hook'],
    ['--name <name>', 'continue where the same name stopped (default: the name of this machine)'],
    ['--events <types>', 'event types, separated by commas (default call.status,agent.status)'],
    ['--filter <json>', 'which of these events: {"call.status": {"agentUri": ["sip:alice@acme.example"]}}'],
    ['--skip-backlog', 'park what is waiting, and begin with new events'],
    ['--print-secret', 'print the secret that signs the deliveries, when they begin'],
    ['--ephemeral', 'use a temporary subscription'],
    ['--allow-remote', 'forward to another machine'],
  ],
  run: async ({ client, out }, _args, options) => {
    const { forwardTo, name, events, filter, allowRemote, ephemeral } = options
    const target = forwardTo === undefined ? undefined : targetOf(forwardTo, allowRemote === true)
    // As of a variable that is not set: all of its users would share the deliveries.
    if (name?.trim() === '') throw usage('--name is empty: leave it out for the name of this machine.')
    const subscription = await ensureSubscription(client, {
      isEphemeral: ephemeral === true,
      ...(name !== undefined && { name }),
      ...(events !== undefined && { eventTypes: typesIn(events) }),
      ...(filter !== undefined && { filter: filterIn(filter) }),
    })
    const { id } = subscription
    if (options.printSecret) showSecret(out, subscription)
    if (options.skipBacklog) {
      const skipped = await skipBacklog(client, id)
      out.note(`${deliveries(skipped)} parked. To get them after all: switchhook recover ${id}`)
    }
    /** Parked, or waiting for a retry. */
    const failing = new Set<string>()
    let hasParked = false
    onKey('r', async () => {
      const ids = [...failing]
      out.note(ids.length === 0 ? 'No delivery has failed.' : `Retrying ${deliveries(ids.length)} now.`)
      for (const each of ids) {
        await client.deliveries
          .redeliver(each)
          .catch((error: Error) => out.note(`${each} is not sent again: ${error.message}`))
      }
    })
    const filtered = subscription.filter === null ? '' : `, filtered by ${JSON.stringify(subscription.filter)},`
    out.note(
      `Receiving ${subscription.eventTypes.join(', ')}${filtered} as ${id}. Stop with Ctrl+C; deliveries that arrive meanwhile wait.`,
    )
    const stopped = STOPPED[subscriptionState(subscription)]
    if (stopped !== undefined) out.note(stopped)
    await listen({
      client,
      subscriptionId: id,
      target,
      note: out.note,
      onResult: (delivery, outcome, result) => {
        const isParked = result.state === 'parked'
        if (isParked || (result.state === 'held' && !outcome.release)) failing.add(delivery.deliveryId)
        else failing.delete(delivery.deliveryId)
        const { leaseToken: _, ...shown } = outcome
        out.stream({ ...shown, attempt: delivery.attempt, ...result }, () => lineOf(out, delivery, outcome, result))
        if (isParked && !hasParked)
          out.note(`Parked deliveries are not retried. To send them again: switchhook recover ${id}`)
        hasParked ||= isParked
      },
    })
  },
})

/** Why nothing may arrive, by the state of the subscription. */
const STOPPED: Readonly<Record<string, string>> = {
  paused: 'The subscription is paused: deliveries wait until it is resumed.',
  disabled: 'The subscription is disabled: it gets no new events until it is enabled.',
}

function showSecret(out: Context['out'], { id, secret }: { readonly id: string; readonly secret?: string }): void {
  if (secret !== undefined) out.stream({ secret }, () => secret)
  else {
    out.note(
      `The secret was shown when this subscription was created. Replace it: switchhook subscriptions rotate-secret ${id}`,
    )
  }
}

/** `15:07:12.123  call.status  attempt 2: 500 in 12 ms, again at 15:07:22.140  <delivery>` */
function lineOf(
  { style }: Context['out'],
  { deliveryId, attempt, headers }: Schemas['ReceivedDelivery'],
  outcome: Schemas['ReportedOutcome'],
  { result, state, nextAttemptAt }: Schemas['OutcomeResult'],
): string {
  const text = outcomeText(outcome)
  const took = outcome.durationMs === undefined ? '' : ` in ${outcome.durationMs} ms`
  const then =
    result === 'lease-lost'
      ? `reported before or too late: ${state}`
      : nextAttemptAt
        ? `again at ${clock(nextAttemptAt)}`
        : state
  const tone = toneOf(state) ?? (outcome.status !== undefined && outcome.status < 300 ? 'good' : 'bad')
  const now = clock(new Date().toISOString())
  return `${style('dim', now)}  ${headers['X-SVC-Event']}  attempt ${attempt}: ${style(tone, text)}${took}, ${then}  ${style('dim', deliveryId)}`
}

/** Calls `work` when the key is pressed. Does nothing unless a person is at a terminal. */
function onKey(key: string, work: () => Promise<void>): void {
  const { stdin } = process
  if (!stdin.isTTY) return
  stdin.setRawMode(true).unref()
  process.on('exit', () => stdin.setRawMode(false))
  stdin.on('data', (typed) => {
    const text = String(typed)
    // A raw terminal sends no signals.
    if (text.includes('\u0003')) process.kill(process.pid, 'SIGINT')
    else if (text.includes(key)) void work().catch(() => undefined)
  })
}

const LOOPBACK = /^((.+\.)?localhost\.?|127(\.\d+){3}|\[::1\])$/

/** Reads `3000`, `3000/hook`, `localhost:3000/hook` or a url. @throws CliError, also for another machine unless that is allowed */
export function targetOf(text: string, allowRemote: boolean): URL {
  const port = /^\d+([/?#]|$)/.test(text) ? `localhost:${text}` : text
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(port) ? port : `http://${port}`
  // `URL` would take the first step of a path for the host.
  if (text.startsWith('/') || !URL.canParse(address))
    throw usage(`"${text}" is no address: write it like http://localhost:3000/hook.`)
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol)) throw usage(`"${text}" must begin with http:// or https://.`)
  // `fetch` would refuse each delivery, and its attempt would count.
  if (url.username || url.password) throw usage('An address with a user or a password cannot be used.')
  if (!allowRemote && !LOOPBACK.test(url.hostname)) {
    throw usage(`${url.hostname} is another machine: events have personal data. Add --allow-remote if it may get them.`)
  }
  return url
}
