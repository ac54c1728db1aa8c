import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' }
import { Ajv } from 'ajv'
import { callStatusSchema } from './call-status-schema.ts'
import { describeEvents } from './describe-events.ts'
import { compileSchema } from './validator.ts'

test('the document is valid AsyncAPI 3', () => {
  // The bundle brings its own copy of the JSON Schema meta-schema.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, meta: false, validateSchema: false })
  const isValid = ajv.compile(asyncApiSchema)
  isValid(describeEvents())
  expect(isValid.errors ?? []).toEqual([])
})

test('docs/asyncapi.json is this document (write it with: make docs)', () => {
  const written = readFileSync(join(import.meta.dirname, '../../../docs/asyncapi.json'), 'utf8')
  expect(JSON.parse(written)).toEqual(describeEvents())
})

test('the example of a call.status matches its own schema', () => {
  const [example] = callStatusSchema.examples
  expect(compileSchema(callStatusSchema)(example)).toMatchObject({ ok: true })
})
