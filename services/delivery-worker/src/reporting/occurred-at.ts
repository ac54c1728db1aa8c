const FIELD = Buffer.from('"occurredAt":"')

/**
 * When a delivery's event occurred, in ms since 1970, read from its body: the envelope begins with `deliveryId`, `eventType`
 * and `occurredAt`. A quote within a value is escaped, so the field is found and nothing that looks like it.
 */
export function occurredAtMsOf(body: Buffer): number {
  const start = body.indexOf(FIELD) + FIELD.length
  return Date.parse(body.toString('latin1', start, body.indexOf(0x22, start)))
}
