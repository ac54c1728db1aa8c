import { Unparsable } from './events/event.ts'
import { type Guid, isGuid } from './ids.ts'

/** Identifies one Redis with its data. Its messages in RabbitMQ must not be processed against another Redis. */
export type InstallationId = Guid<'installation id'>

/** AMQP header of every event, delivery and receiver check that Switchhook publishes. */
export const INSTALLATION_HEADER = 'sh-installation'

/** Undefined: the message comes from an outside platform. @throws Unparsable for a header that is not a GUID */
export function readInstallation(header: unknown): InstallationId | undefined {
  if (header === undefined) return undefined
  if (!isGuid(header)) throw new Unparsable(`the header ${INSTALLATION_HEADER} must be a GUID`)
  return header.toLowerCase() as InstallationId
}
