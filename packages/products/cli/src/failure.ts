import { NoAnswer, type Problem, SignInFailed, SwitchhookError } from '@switchhook/client'

/** Exit codes of the command. docs/cli.md lists them. */
export const Exit = {
  ok: 0,
  finding: 1,
  usage: 2,
  signIn: 3,
  notFound: 4,
  refused: 5,
  noAnswer: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof Exit)[keyof typeof Exit]

/** A failure that the command has found itself. Its message says what to do. */
export class CliError extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.exit = exit
  }
}

export const usage = (message: string): CliError => new CliError(Exit.usage, message)

/** The exit code, and in one sentence or two what is wrong and what to do. */
type FailureReport = Pick<CliError, 'exit' | 'message'>

/** Tokens and signatures are refused beyond a few minutes; a smaller difference has other causes. */
export const CLOCK_LIMIT_MS = 60_000

/** @param clockOffsetMs how far this machine's clock is ahead of the server's; undefined if unknown */
export function reportOf(error: unknown, clockOffsetMs?: number): FailureReport {
  const { exit, message } = plainReport(error)
  const isClockSuspect = exit === Exit.signIn && clockOffsetMs !== undefined && Math.abs(clockOffsetMs) > CLOCK_LIMIT_MS
  return { exit, message: isClockSuspect ? `${message} ${clockAdvice(clockOffsetMs)}` : message }
}

export const clockAdvice = (offsetMs: number): string =>
  `The clock of this machine is ${Math.round(Math.abs(offsetMs) / 1_000)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the server's: set it by NTP.`

function plainReport(error: unknown): FailureReport {
  if (error instanceof CliError) return error
  if (error instanceof SignInFailed) return { exit: Exit.signIn, message: error.message }
  if (error instanceof NoAnswer) {
    const message = error.message.replace('Check baseUrl', 'Check the address of the installation (switchhook profile)')
    const maybe = error.mayHaveRun ? ' The command may have run: look before you repeat it.' : ''
    return { exit: Exit.noAnswer, message: message + maybe }
  }
  if (error instanceof SwitchhookError) return refusal(error)
  const message = error instanceof Error ? error.message : String(error)
  // Of V8, where a field of an answer is read that is not there.
  if (error instanceof TypeError && /^Cannot |is not iterable$/.test(message)) {
    const about = 'Check the address of the installation (switchhook profile), and its version'
    return { exit: Exit.noAnswer, message: `The answer is unlike Switchhook's (${message}). ${about}.` }
  }
  // The client's name for the address.
  if (message.startsWith('baseUrl ')) return { exit: Exit.usage, message: message.replace('baseUrl', 'The address') }
  // The client's name for the command.
  if (message.endsWith(' needs an id')) return { exit: Exit.usage, message: 'The id is missing.' }
  return { exit: Exit.finding, message }
}

function refusal({ status, code, message, problem, requestId }: SwitchhookError): FailureReport {
  const advised = (exit: ExitCode, advice: string): FailureReport => ({
    exit,
    message: `${message.replace(/\.$/, '')}. ${advice}`,
  })
  if (status === 401 && code === 'unauthorized')
    return advised(Exit.signIn, 'Sign in with "switchhook login", or renew SWITCHHOOK_TOKEN.')
  if (status === 403) return advised(Exit.signIn, 'Ask the operator of the installation for the role.')
  if (code === 'not-found')
    return { exit: Exit.notFound, message: `${message.replace('this client', 'this command')}.` }
  if (status === 404) return { exit: Exit.notFound, message }
  if (status >= 500) return advised(Exit.noAnswer, `Try again; the operator finds it as request ${requestId}.`)
  if (![409, 412, 429].includes(status)) return badInput(message, problem)
  const { allowedCommands } = problem
  if (allowedCommands === undefined) return { exit: Exit.refused, message }
  return advised(Exit.refused, `Possible now: ${allowedCommands.join(', ') || 'nothing'}.`)
}

/** Says what is known where the API refused something unknown. */
function badInput(message: string, { knownStatusCodes = [], knownFields = {} }: Problem): FailureReport {
  const codes = knownStatusCodes.map(({ code, name }) => `${code} ${name}`).join(', ')
  const fields = Object.entries(knownFields).map(([type, names]) => `. Fields of ${type}: ${names.join(', ')}`)
  return { exit: Exit.usage, message: message.replace('knownStatusCodes', codes) + fields.join('') }
}
