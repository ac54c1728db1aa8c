import { type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isGuid } from '../ids.ts'

/** One fault of an input: where it is (RFC 6901 pointer; '' is the whole input) and what is wrong. Never the value. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
}

export type Validation<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: Fault[] }

// `verbose` adds the schema to an error, for the names that are known there. Without `validateSchema` a process starts
// faster, and an invalid keyword is still an error: Ajv checks each while it compiles.
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  discriminator: true,
  verbose: true,
  validateSchema: false,
})
// For generators of clients.
ajv.addVocabulary(['x-enum-varnames'])
// ajv-formats is CommonJS: its default export is wrapped or not, depending on the loader.
const plugin = 'default' in addFormats ? (addFormats.default as unknown as typeof addFormats) : addFormats
;(plugin as unknown as (target: Ajv2020) => void)(ajv)
// The plugin's own format also accepts `urn:uuid:…`, which is not a valid id here.
ajv.addFormat('uuid', isGuid)
// The plugin's own format also accepts a space instead of `T`, and times that `Date.parse` cannot read: offsets without
// minutes, and leap seconds.
ajv.addFormat('date-time', isTime)

/** Compiled for the first value: processes start faster, and most need few of the schemas that they import. */
export function compileSchema<T>(schema: AnySchemaObject): (value: unknown) => Validation<T> {
  let validate: ValidateFunction<T> | undefined
  return (value) => {
    validate ??= ajv.compile<T>(schema)
    if (validate(value)) return { ok: true, value }
    return { ok: false, faults: toFaults(first(validate.errors ?? [])) }
  }
}

/** JSON Schema of an object. Every property is required. */
export const objectSchema = <const Properties extends object>(properties: Properties) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const

/**
 * In characters, of the paths of all errors together. A path has the names around it, however long they are: 64 KB of JSON
 * can have 100 MB of paths. V8 hashes a text of over 16 KB by its length alone, so a map of them takes 30 s.
 */
const MAX_PATHS = 256 * 1024

/** Errors of one rule of a schema. A hostile body can break one, such as that against unknown fields, thousands of times. */
const MAX_PER_RULE = 10

/** The first errors of each rule: at least one, so that no invalid value looks valid. */
function first(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let left = MAX_PATHS
  const byRule = new Map<string, number>()
  return errors.filter(({ instancePath, schemaPath }, at) => {
    const ofRule = (byRule.get(schemaPath) ?? 0) + 1
    byRule.set(schemaPath, ofRule)
    if (ofRule > MAX_PER_RULE) return false
    left -= instancePath.length
    return left >= 0 || at === 0
  })
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

function isTime(text: string): boolean {
  const [, day] = RFC_3339.exec(text) ?? []
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  // `Date.parse` takes February 30 for March 2.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

function toFaults(errors: readonly ErrorObject[]): Fault[] {
  // A fault that lists the choices says more than the type faults at the same place.
  const choices = new Set(errors.filter(listsChoices).map(({ instancePath }) => instancePath))
  const faults = errors
    .filter(({ keyword, instancePath }) => keyword !== 'type' || !choices.has(instancePath))
    .map((error) => ({ pointer: pointerOf(error), detail: faultText(error) }))
  // Deduplicated by key, not pairwise: a hostile body can have many thousand faults.
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.detail}`, fault])).values()]
}

const listsChoices = ({ keyword, schema }: ErrorObject): boolean =>
  keyword === 'enum' || (keyword === 'anyOf' && typesOf(schema as AnySchemaObject[]).length > 0)

/** The types of an `anyOf` whose branches say nothing else. */
const typesOf = (branches: readonly AnySchemaObject[]): string[] =>
  branches.every((branch) => Object.keys(branch).join() === 'type') ? branches.flatMap(({ type }) => type) : []

function pointerOf({ instancePath, params }: ErrorObject): string {
  const member = (params['missingProperty'] ?? params['additionalProperty']) as string | undefined
  return member === undefined ? instancePath : `${instancePath}/${escapeToken(member)}`
}

/** RFC 6901, section 3. */
export const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')

/** Tells the client what a value must be. Never quotes the value. */
const faultText = ({ keyword, message, params, parentSchema = {} }: ErrorObject): string =>
  TEXTS[keyword]?.(params, parentSchema) ?? message ?? `violates "${keyword}"`

/** The properties of a schema that a request can set. */
export const settableNames = ({ properties = {} }: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(properties as Readonly<Record<string, { readonly readOnly?: boolean }>>).flatMap(
    ([name, { readOnly }]) => (readOnly === true ? [] : [name]),
  )

type Params = ErrorObject['params']

/** How the fault of a field begins that the schema does not allow. */
export const UNKNOWN_FIELD = 'is not a known field'

const TEXTS: Readonly<Record<string, (params: Params, schema: AnySchemaObject) => string | undefined>> = {
  required: () => 'is required',
  additionalProperties: ({ additionalProperty }, schema) =>
    `${UNKNOWN_FIELD}${didYouMean(additionalProperty as string, settableNames(schema))}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).map(String).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  type: ({ type }) => mustBe([type as string | string[]].flat()),
  anyOf: (_params, { anyOf }) => mustBe(typesOf(anyOf)),
  format: ({ format }) => FORMATS[format as string],
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${counted(limit, 'character')}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  maxProperties: ({ limit }) => `must have at most ${counted(limit, 'field')}`,
  pattern: ({ pattern }) => PATTERNS[pattern as string],
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  integer: 'an integer',
  string: 'a string',
  number: 'a number',
}

const counted = (limit: number, noun: string): string => `${limit} ${noun}${limit === 1 ? '' : 's'}`

const named = (type: string): readonly string[] => (type === 'boolean' ? ['true', 'false'] : [TYPES[type] ?? type])

const mustBe = (types: readonly string[]): string | undefined =>
  types.length === 0 ? undefined : `must be ${inWords(types)}`

/** The values of these types: `a string`, `an array or null`, `true or false`. */
export const inWords = (types: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(types.flatMap(named))

const PATTERNS: Readonly<Record<string, string>> = {
  '^[^\\u0000-\\u001f\\u007f]*$': 'must be one line, without control characters',
  '^[!-~]+$': 'must be visible ASCII, without spaces',
  // Of a phone number that is searched for.
  '^[+(]?(\\D*\\d){4}[\\d ().\\/-]*$': 'must be a phone number, or at least its last four digits',
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'must be an RFC 3339 time, such as 2026-11-20T17:06:01Z',
  uuid: 'must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11',
}

/** Changes that are most likely a misspelling: up to two neighbouring letters. */
const MAX_LETTERS = 2

/** The end of a message about a misspelt name; '' if no known one is close. Case, `_` and `-` do not count. */
export function didYouMean(name: string, known: readonly string[]): string {
  const plain = plainOf(name)
  const meant = known.find((each) => isNear(plain, plainOf(each)))
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Whether the names differ in one place of at most two letters. Linear, because a hostile body can have many names. */
function isNear(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > MAX_LETTERS) return false
  const shorter = Math.min(name.length, known.length)
  let start = 0
  while (start < shorter && name[start] === known[start]) start += 1
  let end = 0
  while (end < shorter - start && name.at(-1 - end) === known.at(-1 - end)) end += 1
  const same = start + end
  return same > 0 && Math.max(name.length, known.length) - same <= MAX_LETTERS
}
