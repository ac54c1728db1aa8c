import type { StatusNames } from '@switchhook/contracts'
import { feature } from '../../http/feature.ts'
import type { ContactCenter } from '../open-contact-center.ts'
import { listAgents, readAgentState, readCallState, setPresence } from './agent-routes.ts'

interface AgentParts {
  readonly contactCenter: ContactCenter
  readonly config: { readonly USER_STATUS_CODES: StatusNames }
}

export const agents = feature(
  [listAgents, readAgentState, readCallState, setPresence],
  ({ contactCenter, config }: AgentParts) => ({ deps: { ...contactCenter, statusNames: config.USER_STATUS_CODES } }),
)
