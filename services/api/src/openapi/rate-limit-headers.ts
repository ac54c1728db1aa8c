import type { Schema } from '../http/route.ts'

/** What an answer to a client says of its limit; absent where there is none. */
export const rateLimitHeaders: Schema = {
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds.',
    schema: { type: 'string', examples: ['"client";q=6000;w=60'] },
  },
  RateLimit: {
    description: 'What is left of it: `r` requests, until in `t` seconds the next window begins.',
    schema: { type: 'string', examples: ['"client";r=5999;t=60'] },
  },
}
