import { type Delivery, Refused } from './move-deliveries.ts'

/** The producer of kafkajs, and of the other libraries with the same interface. */
interface Producer {
  send(record: {
    readonly topic: string
    /** -1: all replicas in sync have it. */
    readonly acks: -1
    readonly messages: readonly { key: string; value: string; headers: Readonly<Record<string, string>> }[]
  }): Promise<unknown>
}

/** The same call, or the same agent, goes to the same partition. */
function keyOf({ deliveryId, body }: Delivery): string {
  const { data } = JSON.parse(body) as {
    readonly data: { readonly callId?: string; readonly agentUri?: string } | null
  }
  return data?.callId ?? data?.agentUri ?? deliveryId
}

/** Kafka's codes for a record that it never takes: MESSAGE_TOO_LARGE and INVALID_RECORD (kafka.apache.org/protocol). */
const REFUSALS: readonly unknown[] = [10, 87]

/** Stores deliveries in a topic. Resolves once the replicas in sync have the message. @throws Refused if Kafka never takes it */
export const toKafka =
  (producer: Producer, topic: string) =>
  async (delivery: Delivery): Promise<void> => {
    const { headers, body: value } = delivery
    try {
      await producer.send({ topic, acks: -1, messages: [{ key: keyOf(delivery), value, headers }] })
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message: string }
      throw REFUSALS.includes(code) ? new Refused(message) : error
    }
  }
