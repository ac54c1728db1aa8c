import { AppError, type Fault } from '@switchhook/contracts'
import { isSameAddress, presentationOf } from '@switchhook/platform'

/** The field of a dial or a transfer that must not name the agent. The other commands have none. */
export type OtherParty = 'destination' | 'transferTarget'

/**
 * Status of a call command without an agentUri. The specification asks for 401 on dial and transfer. The other commands
 * answer 400, because a 401 makes clients fetch a new token and retry.
 */
export const statusWithoutAgent = (otherParty?: OtherParty) => (otherParty === undefined ? 400 : 401)

/** For the description of a route. */
export const missingAgentUriNote = (otherParty?: OtherParty): string =>
  statusWithoutAgent(otherParty) === 400
    ? ''
    : '\n\nA request without an `agentUri`, or without a body, gets 401 `missing-agent-uri`. A new access token does not help.'

/**
 * Validates the body of a call command. A missing agentUri has its own error code, whatever else is wrong. It is missing if
 * it is absent, null or empty, or if there is no object. An agentUri of another type is present but not valid.
 */
export const validateCallCommand =
  (otherParty?: OtherParty) =>
  (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined
    const agentUri = fields?.['agentUri']
    if (agentUri == null || agentUri === '') {
      const others = faults.filter(({ pointer }) => pointer !== '/agentUri')
      const errors = [{ pointer: '/agentUri', detail: 'is required' }, ...others]
      const detail =
        body === undefined ? 'The request has no body and therefore no agentUri.' : 'The body has no agentUri.'
      const status = statusWithoutAgent(otherParty)
      return new AppError('missing-agent-uri', {
        status,
        // Clients react to a 401 with a new token.
        detail: status === 401 ? `${detail} A new access token does not help.` : detail,
        errors,
      })
    }
    const all = [...faults, ...(otherParty === undefined ? [] : callsOneself(fields, otherParty)), ...wrongCli(fields)]
    return all.length === 0
      ? undefined
      : new AppError('invalid-request', { detail: 'The body is not valid.', errors: all })
  }

/** A `cli` that no platform can present must not show another number than the event says. */
function wrongCli(fields: Record<string, unknown> | undefined): Fault[] {
  const cli = fields?.['cli']
  if (typeof cli !== 'string' || cli === '' || presentationOf(cli) !== null) return []
  return [{ pointer: '/cli', detail: 'must be a number such as +15550199, or "anonymous" to withhold the number' }]
}

function callsOneself(fields: Record<string, unknown> | undefined, name: string): Fault[] {
  const [agentUri, other] = [fields?.['agentUri'], fields?.[name]]
  const isOneself = typeof agentUri === 'string' && typeof other === 'string' && isSameAddress(agentUri, other)
  return isOneself ? [{ pointer: `/${name}`, detail: 'must not be the agent who gives the command' }] : []
}
