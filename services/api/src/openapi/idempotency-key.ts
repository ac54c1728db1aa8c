import type { Schema } from '../http/route.ts'

/** What a route that takes an idempotency key says of it. */
export const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name of your own for this request, so that it can be sent again when its answer got lost. The same caller, path, ' +
    'key and body get the same answer for 24 hours, a refusal included, with `Idempotent-Replayed: true`; nothing is ' +
    'carried out twice. So a refusal is repeated even when what it speaks of has passed: ask again under another key then. ' +
    'Another body under the key is refused. An answer of 500 or more is not kept: send the request ' +
    'again, under the same key.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$', examples: ['order-4711-dial'] },
}
