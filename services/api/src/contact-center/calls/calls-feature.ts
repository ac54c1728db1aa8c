import { createEventList, type EventList } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { type ContactCenter, isRead } from '../open-contact-center.ts'
import { listCalls, readCall } from './call-list-routes.ts'
import { dial } from './dial-route.ts'
import { legRoutes } from './leg-routes.ts'
import { transfer } from './transfer-route.ts'

/** The commands and the lists of calls. A 202 means that a command was accepted; `call.status` events report its result. */
export const calls = feature(
  [dial, ...legRoutes, transfer, listCalls, readCall],
  ({ contactCenter, journal, installation }: Base & { readonly contactCenter: ContactCenter }) => {
    const list = createEventList(journal)
    // In an emptied Redis, the events by which ended calls are found are missing.
    const page = installation.confirmAbsence((...args: Parameters<EventList['page']>) => list.page(...args), isRead)
    return { deps: { ...contactCenter, events: { page } } }
  },
)
