import { type DeliveryHeaders, deliveryHeaders, parseDelivery } from '@switchhook/contracts'

/** What the broker's message of a held delivery would be, and when the delivery is due. */
export type HeldMessage = ReturnType<typeof parseHeldMessage>

type StoredHeaders = DeliveryHeaders & { readonly dueAtMs: number }

const NEWLINE = 0x0a

/** One line of JSON, then the body, byte for byte. */
export const heldMessageOf = ({ delivery, dueAtMs }: HeldMessage): Buffer => {
  const headers: StoredHeaders = { ...deliveryHeaders(delivery), dueAtMs }
  return Buffer.concat([Buffer.from(`${JSON.stringify(headers)}\n`), delivery.body])
}

export function parseHeldMessage(stored: Buffer) {
  const end = stored.indexOf(NEWLINE)
  const headers = JSON.parse(stored.subarray(0, end).toString()) as StoredHeaders
  return { delivery: parseDelivery(stored.subarray(end + 1), headers), dueAtMs: headers.dueAtMs }
}
