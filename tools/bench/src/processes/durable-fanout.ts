import { type ConsumeMessage, connect } from 'amqplib'

/** Consumes events, publishes the deliveries of each with confirms, several in a message if `packed` > 1, then acknowledges. */
const [amqpUrl = '', events = '', deliveries = '', perEvent = '1', packed = '1'] = process.argv.slice(2)
/** Enough events in a turn to fill messages. */
const PREFETCH = Math.max(100, 20 * Number(packed))
const SEPARATOR = Buffer.from('\n')
const model = await connect(amqpUrl)
const publishing = await model.createConfirmChannel()
const consuming = await model.createChannel()

const publish = (content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    publishing.sendToQueue(deliveries, content, { persistent: true }, (error: unknown) =>
      error == null ? resolve() : reject(error),
    )
  })

/** Events of one turn of the event loop. Their deliveries share messages. */
let turn: ConsumeMessage[] = []

function publishTurn(): void {
  const [own, copies, size] = [turn, Number(perEvent), Number(packed)]
  turn = []
  const bodies = own.flatMap(({ content }) => Array<Buffer>(copies).fill(content))
  const confirms: Promise<void>[] = []
  for (let from = 0; from < bodies.length; from += size) confirms.push(publish(joined(bodies.slice(from, from + size))))
  for (const [at, event] of own.entries()) {
    const last = Math.floor(((at + 1) * copies - 1) / size)
    Promise.all(confirms.slice(Math.floor((at * copies) / size), last + 1))
      .then(() => consuming.ack(event))
      .catch(() => consuming.nack(event))
  }
}

const joined = ([first = SEPARATOR, ...more]: readonly Buffer[]): Buffer =>
  more.length === 0 ? first : Buffer.concat([first, ...more.flatMap((body) => [SEPARATOR, body])])

await consuming.prefetch(PREFETCH)
await consuming.consume(events, (message) => {
  if (message === null) return
  if (turn.push(message) === 1) setImmediate(publishTurn)
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
