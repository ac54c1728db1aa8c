import { type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isGuid } from '../ids.ts'
import { faultText } from './fault-text.ts'

/** One fault of an input: where it is (RFC 6901 pointer; '' is the whole) and what is wrong with it. Never the value. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
}

export type Validation<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: Fault[] }

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, discriminator: true })
// ajv-formats is CommonJS: its default export arrives wrapped or not, depending on who loads it.
const plugin = 'default' in addFormats ? (addFormats.default as unknown as typeof addFormats) : addFormats
;(plugin as unknown as (target: Ajv2020) => void)(ajv)
// The plugin's own also takes `urn:uuid:…`, which is no id here.
ajv.addFormat('uuid', isGuid)

/** Compiles a JSON Schema (2020-12) into a check that lists every fault at once and leaves the value as it is. */
export function compileSchema<T>(schema: AnySchemaObject): (value: unknown) => Validation<T> {
  const validate = ajv.compile(schema) as ValidateFunction<T>
  return (value) => {
    if (validate(value)) return { ok: true, value }
    return { ok: false, faults: toFaults(validate.errors ?? []) }
  }
}

function toFaults(errors: readonly ErrorObject[]): Fault[] {
  // A choice says more than its type, which is then at fault as well.
  const choices = new Set(errors.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath))
  const faults = errors
    .filter(({ keyword, instancePath }) => keyword !== 'type' || !choices.has(instancePath))
    .map((error) => ({ pointer: pointerOf(error), detail: faultText(error) }))
  // By key, not by comparing each with each: a hostile body can have many thousand faults.
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.detail}`, fault])).values()]
}

function pointerOf({ instancePath, params }: ErrorObject): string {
  const member = (params['missingProperty'] ?? params['additionalProperty']) as string | undefined
  return member === undefined ? instancePath : `${instancePath}/${escapeToken(member)}`
}

/** RFC 6901, section 3. */
const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')
