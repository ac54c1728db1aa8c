import type { FailureCode } from '@switchhook/contracts'
import type { Route, Schema } from '../http/route.ts'

/** The headers of answers, each described once. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: "The request's own `X-Request-Id`, or one that was made for it.",
    schema: { type: 'string', examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'] },
  },
  'RateLimit-Policy': {
    description:
      'The limit: `q` requests in `w` seconds. Absent where there is none, and where the request was refused before it was counted.',
    schema: { type: 'string', examples: ['"client";q=6000;w=60'] },
  },
  RateLimit: {
    description:
      'What is left of the limit: `r` requests, until in `t` seconds the next window begins. Absent where `RateLimit-Policy` is.',
    schema: { type: 'string', examples: ['"client";r=5999;t=60'] },
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', examples: [5] },
  },
  'WWW-Authenticate': {
    description: 'RFC 6750, section 3.',
    schema: { type: 'string', examples: ['Bearer realm="switchhook"'] },
  },
  'Idempotent-Replayed': {
    description:
      'This is what the first request with this `Idempotency-Key` was answered; or, without a key, an earlier `dial` that was alike.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const satisfies Readonly<Record<string, Schema>>

export type AnswerHeader = keyof typeof ANSWER_HEADERS

const RATE_LIMIT: readonly AnswerHeader[] = ['RateLimit-Policy', 'RateLimit']

/** Of a success of this route, beside its own. */
export const successHeaders = ({ idempotent, isPublic }: Route): readonly AnswerHeader[] => [
  ...(idempotent === true ? (['Idempotent-Replayed'] as const) : []),
  ...(isPublic === true ? [] : RATE_LIMIT),
  'X-Request-Id',
]

/** Of a failure of this route that has this status, and one of these codes. */
export const failureHeaders = (
  { idempotent, isPublic }: Route,
  status: number,
  codes: readonly FailureCode[],
): readonly AnswerHeader[] => [
  ...(idempotent === true && canBeReplayed(status) ? (['Idempotent-Replayed'] as const) : []),
  ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ...(status === 429 || status === 503 || codes.includes('idempotency-key-in-use') ? (['Retry-After'] as const) : []),
  // Who is not known is not counted.
  ...(isPublic === true || codes.every((code) => code === 'unauthorized') ? [] : RATE_LIMIT),
  'X-Request-Id',
]

/** The refusals that are kept come from the handlers; a 400 is found before a key counts. */
const canBeReplayed = (status: number): boolean => status === 404 || status === 409
