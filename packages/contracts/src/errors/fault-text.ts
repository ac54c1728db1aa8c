import type { ErrorObject } from 'ajv'

/** Says what a value must be instead, in words for whoever sent it. Never the value. */
export function faultText({ keyword, message = `violates "${keyword}"`, params }: ErrorObject): string {
  const text = TEXTS[keyword]?.(params)
  return text ?? message
}

type Params = ErrorObject['params']

const TEXTS: Readonly<Record<string, (params: Params) => string | undefined>> = {
  required: () => 'is required',
  additionalProperties: () => 'is not known',
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).map(String).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  type: ({ type }) => `must be ${listed([type as string | string[]].flat().flatMap(named))}`,
  format: ({ format }) => FORMATS[format as string],
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must not be longer than ${limit} characters`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must not have more than ${limit} items`,
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  integer: 'an integer',
  string: 'a string',
  number: 'a number',
}

const named = (type: string): readonly string[] => (type === 'boolean' ? ['true', 'false'] : [TYPES[type] ?? type])

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'must be a time as in RFC 3339, such as 2026-11-20T17:06:01Z',
  uuid: 'must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11',
}
