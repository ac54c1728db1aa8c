import { AppError, type Fault } from '@switchhook/contracts'
import { isSameAddress } from '@switchhook/platform'

const NO_AGENT = 'The body has no agentUri; another token does not help'

/**
 * A command that names no agent gets an error of its own: 401 for dial and transfer, as the specification says, whatever
 * else is wrong with them; 400 for the others, as a 401 would make clients fetch a token and retry in vain.
 */
export const judgeBody =
  (statusWithoutAgent: 400 | 401, otherParty?: 'destination' | 'transferTarget') =>
  (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    const members = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined
    if (members !== undefined && isMissing(members['agentUri'])) {
      const others = faults.filter(({ pointer }) => pointer !== '/agentUri')
      const errors = [{ pointer: '/agentUri', detail: 'is required' }, ...others]
      return new AppError('missing-agent-uri', { status: statusWithoutAgent, detail: NO_AGENT, errors })
    }
    const all = [
      ...faults,
      ...(otherParty === undefined ? [] : callsOneself(members?.['agentUri'], members, otherParty)),
    ]
    return all.length === 0
      ? undefined
      : new AppError('invalid-request', { detail: 'The body is not valid', errors: all })
  }

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ''

function callsOneself(agentUri: unknown, members: Record<string, unknown> | undefined, name: string): Fault[] {
  const other = members?.[name]
  const isOneself = typeof agentUri === 'string' && typeof other === 'string' && isSameAddress(agentUri, other)
  return isOneself ? [{ pointer: `/${name}`, detail: 'must not be the agent who gives the command' }] : []
}
