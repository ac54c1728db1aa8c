import { setTimeout as wait } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { type Context, command, given } from '../command.ts'
import { CliError, Exit } from '../failure.ts'
import { countOf, momentOf, typesIn } from '../options.ts'
import { moment } from '../output/words.ts'

const WATCH_EVERY_MS = 1_000

export const recover = command({
  name: 'recover',
  summary: 'send the parked deliveries of a subscription again',
  args: [['<subscription>', 'the id of the subscription']],
  options: [
    ['--dry-run', 'only count them'],
    ['--watch', 'show the progress until the end'],
    ['--from <time>', 'only those parked since: 2h, or an ISO 8601 time'],
    ['--to <time>', 'only those parked before'],
    ['--types <types>', 'only these event types, separated by commas'],
    ['--per-second <count>', 'at most so many per second'],
  ],
  run: async ({ client, out }, [id = ''], { dryRun, watch, from, to, types, perSecond }) => {
    const nowMs = Date.now()
    const body = given<Schemas['RecoveryInput']>({
      from: from === undefined ? undefined : momentOf(from, -1, nowMs),
      to: to === undefined ? undefined : momentOf(to, -1, nowMs),
      eventTypes: types === undefined ? undefined : (typesIn(types) as Schemas['RecoveryInput']['eventTypes']),
      maxPerSecond: perSecond === undefined ? undefined : countOf(perSecond, '--per-second'),
    })
    if (dryRun) {
      const counted = await client.subscriptions.previewRecovery(id, body)
      const { count, withoutBody, oldest, newest } = counted
      return out.record(counted, {
        deliveries: count,
        'without body': withoutBody,
        oldest: moment(oldest),
        newest: moment(newest),
      })
    }
    let recovery: Schemas['Recovery'] = await client.subscriptions.recover(id, body)
    if (!watch) {
      showRecovery(out, recovery)
      return out.note(`Follow it: switchhook explain ${recovery.recoveryId}`)
    }
    out.note(`Recovery ${recovery.recoveryId}. Ctrl+C stops watching, not the recovery.`)
    while (recovery.state === 'running' || recovery.state === 'paused') {
      out.progress(progressOf(recovery))
      await wait(WATCH_EVERY_MS)
      recovery = await client.recoveries.read(recovery.recoveryId)
    }
    showRecovery(out, recovery)
    const { state, failed, parkedSince } = recovery
    if (state !== 'done' || failed > 0) {
      throw new CliError(Exit.finding, `The recovery is ${state}, ${failed} of its deliveries could not be sent.`)
    }
    if (parkedSince > 0) {
      const list = `switchhook deliveries list --state parked --subscription ${recovery.subscriptionId}`
      throw new CliError(Exit.finding, `${parkedSince} deliveries were parked since it began. To see them: ${list}`)
    }
  },
})

/** `120 of 300 sent, 12/s, waiting for the endpoint` */
export function progressOf({ sent, remaining, perSecond, waitingFor }: Schemas['Recovery']): string {
  const pace = waitingFor === null ? `${Math.round(perSecond)}/s` : `waiting: ${waitingFor}`
  return `${sent} of ${sent + remaining} sent, ${pace}`
}

export function showRecovery(out: Context['out'], recovery: Schemas['Recovery']): void {
  const { recoveryId, subscriptionId: subscription, state, cancelledBecause: why } = recovery
  const { found, sent, skipped, failed, remaining } = recovery
  out.record(recovery, {
    recovery: recoveryId,
    subscription,
    state: why === null ? state : `${state}: ${why}`,
    'waiting for': recovery.waitingFor,
    found,
    sent,
    skipped,
    failed,
    'parked since': recovery.parkedSince,
    remaining,
    started: moment(recovery.startedAt),
    ended: moment(recovery.endedAt),
  })
}
