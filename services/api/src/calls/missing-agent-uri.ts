import { AppError, type Fault } from '@switchhook/contracts'
import { isSameAddress } from '@switchhook/platform'

/**
 * Validates the body of a call command. A command without an agentUri has an error code of its own: 401 for dial and transfer,
 * as the specification says, whatever else is wrong with the body; 400 for the others, because a 401 makes clients fetch a
 * token and retry. The agentUri is missing if it is absent, null or empty, and if there is no body or the body is not an
 * object. An agentUri of another type is present, and not valid.
 */
export const judgeBody =
  (statusWithoutAgent: 400 | 401, otherParty?: 'destination' | 'transferTarget') =>
  (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    const members = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined
    if (isMissing(members?.['agentUri'])) {
      const others = faults.filter(({ pointer }) => pointer !== '/agentUri')
      const errors = [{ pointer: '/agentUri', detail: 'is required' }, ...others]
      const detail = body === undefined ? 'The request has no body, so no agentUri.' : 'The body has no agentUri.'
      return new AppError('missing-agent-uri', {
        status: statusWithoutAgent,
        // Clients answer a 401 with a new token.
        detail: statusWithoutAgent === 401 ? `${detail} A new access token does not help.` : detail,
        errors,
      })
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
