import { setTimeout as delay } from 'node:timers/promises'
import { INSTALLATION_HEADER } from '@switchhook/contracts'
import {
  type Broker,
  type Consumer,
  createFinishedMembers,
  eventPackQueues,
  handleMembers,
  openEventPack,
  Queue,
  type SingleEvent,
} from '@switchhook/messaging'
import { answerWithin, type Logger } from '@switchhook/runtime'
import type { Installation } from '@switchhook/store'

const LOOK_EVERY_MS = 50

/**
 * Packs of events that no fan-out has taken, because it was rolled back to a version that does not know them, are published
 * again, each event as if it had not been packed. Fan-out judges whether they belong to this installation: a foreign pack
 * must not make the api unready. Does not wait for the broker.
 */
export function takePacksApart(deps: {
  readonly broker: Pick<Broker, 'publishUnpacked' | 'consume' | 'lookAt'>
  readonly eventShards: number
  readonly installation: Pick<Installation, 'recovered'>
  /** How long an api that ends waits for the packs to be taken. */
  readonly patienceMs?: number
  readonly log: Pick<Logger, 'error' | 'warn'>
}) {
  const { broker, eventShards, installation, patienceMs = 5_000, log } = deps
  const finished = createFinishedMembers<SingleEvent>()
  const consumers: Consumer[] = []
  const consumed = new Set<string>()
  let isGivenUp = false

  async function consume(queue: string): Promise<void> {
    consumed.add(queue)
    const consumer = await broker.consume({
      queue,
      parse: (message) => ({ pack: openEventPack(message), ofInstallation: message.headers[INSTALLATION_HEADER] }),
      handle: ({ pack, ofInstallation }) => {
        const publish = (event: SingleEvent): Promise<void> => broker.publishUnpacked(event, ofInstallation)
        return handleMembers(pack, { finished, handle: publish, publishAlone: publish, log })
      },
      concurrency: 2,
      recovered: installation.recovered,
    })
    consumers.push(consumer)
  }

  async function untilTaken(): Promise<void> {
    const queues = [Queue.untakenEventPacks, ...eventPackQueues(eventShards)]
    for (;;) {
      const depths = await broker.lookAt(queues)
      const waiting = queues.filter((_, at) => (depths[at]?.ready ?? 0) > 0)
      if (waiting.length === 0 || isGivenUp) break
      for (const [at, queue] of queues.entries()) {
        if (waiting.includes(queue) && depths[at]?.consumers === 0 && !consumed.has(queue)) await consume(queue)
      }
      await delay(LOOK_EVERY_MS)
    }
    await Promise.all(consumers.map((consumer) => consumer.drain()))
  }

  // The api may end before the broker could be reached.
  consume(Queue.untakenEventPacks).catch(() => {})
  return {
    /**
     * Resolves once no pack waits, after the last publish of this process: an earlier version may follow, which takes none.
     * Packs without a fan-out that takes them are taken apart here.
     */
    async stop(): Promise<void> {
      try {
        await answerWithin(patienceMs, untilTaken(), `packs still wait after ${patienceMs} ms`)
      } catch (error) {
        isGivenUp = true
        log.warn('packs of events wait for a version that takes them', { error })
      }
    },
  }
}
