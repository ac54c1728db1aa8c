import { type Problem, SwitchhookError } from '@switchhook/client'
import { faultsIn, HeadersFault } from './faults.ts'

const refusal = (code: Problem['code'], detail: string, errors?: Problem['errors']) =>
  new SwitchhookError({ code, detail, ...(errors && { errors }) } as Problem)

test.each<[string, unknown, object]>([
  [
    'each field with its faults',
    refusal('invalid-request', 'The body is not valid.', [
      { pointer: '/url', detail: 'is required' },
      { pointer: '/headers/host', detail: 'cannot be set' },
      { pointer: '/headers/a~1b~0c', detail: 'is not a name; did you mean "a"?' },
    ]),
    { url: ['Is required.'], headers: ['host cannot be set.', 'a/b~c is not a name; did you mean "a"?'] },
  ],
  [
    'a refusal that has no pointer',
    refusal('external-id-taken', 'Subscription 1 has this externalId.'),
    { externalId: ['Subscription 1 has this externalId.'] },
  ],
  ['a fault that the console finds', new HeadersFault('x has two lines.'), { headers: ['x has two lines.'] }],
  ['an error that is not about fields', refusal('rate-limited', 'Too many requests.'), {}],
  ['an API that is away', new TypeError('fetch failed'), {}],
])('%s', (_name, error, expected) => expect(Object.fromEntries(faultsIn(error))).toEqual(expected))
