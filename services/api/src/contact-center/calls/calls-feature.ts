import { createEventList, type JournalReader, type Redis } from '@switchhook/store'
import { feature } from '../../http/feature.ts'
import type { ContactCenter } from '../open-contact-center.ts'
import { listCalls, readCall } from './call-list-routes.ts'
import { dial } from './dial-route.ts'
import { legRoutes } from './leg-routes.ts'
import { transfer } from './transfer-route.ts'

interface CallParts {
  readonly contactCenter: ContactCenter
  readonly redis: Redis
  readonly journal: JournalReader
}

/** The commands and the lists of calls. A 202 means that a command was accepted; `call.status` events report its result. */
export const calls = feature(
  [dial, ...legRoutes, transfer, listCalls, readCall],
  ({ contactCenter, redis, journal }: CallParts) => ({
    deps: { ...contactCenter, events: createEventList(redis, journal) },
  }),
)
