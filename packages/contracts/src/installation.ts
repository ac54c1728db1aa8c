import { Unparsable } from './events/event.ts'
import { type Guid, isGuid } from './ids.ts'

/** One Redis with its data. Its messages in RabbitMQ mean nothing to the Redis of another installation. */
export type InstallationId = Guid<'installation id'>

/** AMQP header of every event, delivery and receiver check that Switchhook publishes. */
export const INSTALLATION_HEADER = 'sh-installation'

/**
 * Reads the header of a message. Absent: the message is from an outside platform, or from a version without the header.
 * @throws Unparsable unless the header is absent or a GUID
 */
export function readInstallation(header: unknown): InstallationId | undefined {
  if (header === undefined) return undefined
  if (!isGuid(header)) throw new Unparsable(`the header ${INSTALLATION_HEADER} must be a GUID`)
  return header.toLowerCase() as InstallationId
}
