import { type ConsumeMessage, connect } from 'amqplib'

/**
 * Consumes events, publishes the deliveries of each with confirms, then acknowledges. If `packed` > 1, a message contains
 * several deliveries, and may contain several events.
 */
const [amqpUrl = '', events = '', deliveries = '', perEvent = '1', packed = '1'] = process.argv.slice(2)
/** Enough events in a turn to fill messages. */
const PREFETCH = Math.max(100, 20 * Number(packed))
const SEPARATOR = '\n'
const model = await connect(amqpUrl)
const publishing = await model.createConfirmChannel()
const consuming = await model.createChannel()

const publish = (content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    publishing.sendToQueue(deliveries, content, { persistent: true }, (error: unknown) =>
      error == null ? resolve() : reject(error),
    )
  })

/** Messages of one iteration of the event loop. Their deliveries share messages. */
let turn: ConsumeMessage[] = []

// A body is JSON without line breaks.
const bodiesOf = ({ content }: ConsumeMessage): (Buffer | string)[] => {
  const events = Number(packed) === 1 ? [content] : content.toString().split(SEPARATOR)
  return events.flatMap((event) => Array<Buffer | string>(Number(perEvent)).fill(event))
}

const contentOf = (bodies: readonly (Buffer | string)[]): Buffer => {
  const [first] = bodies
  return bodies.length === 1 && Buffer.isBuffer(first) ? first : Buffer.from(bodies.join(SEPARATOR))
}

function publishTurn(): void {
  const [own, size] = [turn, Number(packed)]
  turn = []
  const each = own.map(bodiesOf)
  const bodies = each.flat()
  const confirms: Promise<void>[] = []
  for (let from = 0; from < bodies.length; from += size) {
    confirms.push(publish(contentOf(bodies.slice(from, from + size))))
  }
  let at = 0
  for (const [i, event] of own.entries()) {
    const first = Math.floor(at / size)
    at += each[i]?.length ?? 0
    Promise.all(confirms.slice(first, Math.floor((at - 1) / size) + 1))
      .then(() => consuming.ack(event))
      .catch(() => consuming.nack(event))
  }
}

await consuming.prefetch(PREFETCH)
await consuming.consume(events, (message) => {
  if (message === null) return
  if (turn.push(message) === 1) setImmediate(publishTurn)
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
