import type { FailureCode } from '@switchhook/contracts'
import { type RouteSpec, readsToken } from '../route.ts'
import type { Schema } from '../schema.ts'

export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'The `X-Request-Id` of the request, or a generated id if the request had none.',
    schema: { type: 'string', examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'] },
  },
  'RateLimit-Policy': {
    description:
      'The rate limit: `q` requests per window of `w` seconds. Absent if the installation has no limit or the request was not counted.',
    schema: { type: 'string', examples: ['"client";q=6000;w=60'] },
  },
  RateLimit: {
    description:
      'The rest of the current window: `r` requests are left, and `t` seconds until the next window begins. Absent if `RateLimit-Policy` is absent.',
    schema: { type: 'string', examples: ['"client";r=5999;t=60'] },
  },
  'Retry-After': { description: 'Retry after this many seconds.', schema: { type: 'integer', examples: [5] } },
  'WWW-Authenticate': {
    description: 'The authentication scheme and, for a rejected token, the reason (RFC 6750, section 3).',
    schema: { type: 'string', examples: ['Bearer realm="switchhook"'] },
  },
  'Idempotent-Replayed': {
    description:
      'Present if this is the stored answer of an earlier request: the first one with this `Idempotency-Key` or, without a key, an identical earlier `dial`.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const satisfies Readonly<Record<string, Schema>>

export type AnswerHeader = keyof typeof ANSWER_HEADERS

const RATE_LIMIT: readonly AnswerHeader[] = ['RateLimit-Policy', 'RateLimit']

/** Every header that an answer of these routes can have. */
export const documentedHeaders = (routes: readonly RouteSpec[]): ReadonlySet<string> =>
  new Set([
    ...Object.keys(ANSWER_HEADERS),
    ...routes.flatMap(({ responses }) => Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers))),
  ])

/** The common headers of a route's successes, besides the headers that the route describes itself. */
export const successHeaders = (route: RouteSpec): readonly AnswerHeader[] => [
  ...(route.idempotent === true ? (['Idempotent-Replayed'] as const) : []),
  ...(readsToken(route) ? RATE_LIMIT : []),
  'X-Request-Id',
]

export const failureHeaders = (route: RouteSpec, status: number, codes: readonly FailureCode[]): AnswerHeader[] => [
  // Only errors of the handlers are stored for a replay. A 400 is found before the key is used; a 409, 412 or 429 releases it.
  ...(route.idempotent === true && status === 404 ? (['Idempotent-Replayed'] as const) : []),
  ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ...(status === 429 || status === 503 || codes.includes('idempotency-key-in-use') ? (['Retry-After'] as const) : []),
  // The rate limit counts per client, and an unauthorized request has none.
  ...(!readsToken(route) || codes.every((code) => code === 'unauthorized') ? [] : RATE_LIMIT),
  'X-Request-Id',
]
