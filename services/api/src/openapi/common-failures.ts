import type { FailureCode } from '@switchhook/contracts'
import type { Route } from '../http/route.ts'

/** What every route of its kind can answer, beside the failures that it names itself. */
export function commonFailures(route: Route): FailureCode[] {
  return [
    ...(hasQuery(route) || route.body !== undefined ? INVALID : []),
    ...(route.isPublic === true ? [] : PROTECTED),
    ...(route.body === undefined ? [] : WITH_BODY),
    ...(route.idempotent === true ? WITH_KEY : []),
    'internal',
  ]
}

const hasQuery = ({ query = {} }: Route): boolean => Object.keys(query).length > 0

const INVALID: FailureCode[] = ['invalid-request']
/** All that needs a token also needs Redis. */
const PROTECTED: FailureCode[] = ['unauthorized', 'rate-limited', 'service-unavailable']
const WITH_BODY: FailureCode[] = ['malformed-json', 'body-too-large', 'unsupported-media-type']
const WITH_KEY: FailureCode[] = ['invalid-request', 'idempotency-key-in-use', 'idempotency-key-reused']
