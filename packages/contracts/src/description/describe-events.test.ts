import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' }
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describeEvents } from './describe-events.ts'

test('the document is valid AsyncAPI 3', () => {
  // The bundle brings its own copy of the JSON Schema meta-schema.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, meta: false, validateSchema: false })
  const isValid = ajv.compile(asyncApiSchema)
  isValid(describeEvents())
  expect(isValid.errors ?? []).toEqual([])
})

test('docs/asyncapi.json is this document (write it with: make docs)', () => {
  const written = readFileSync(join(import.meta.dirname, '../../../../docs/asyncapi.json'), 'utf8')
  expect(JSON.parse(written)).toEqual(describeEvents())
})

interface Message {
  readonly headers: object
  readonly payload: object
  readonly examples: readonly { readonly headers?: object; readonly payload: object }[]
}

const document = describeEvents() as {
  readonly components: { readonly messages: Readonly<Record<string, Message>> }
}

test.each(Object.entries(document.components.messages))(
  'the examples of %s match what they exemplify',
  (name, message) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema(document, 'asyncapi.json')
    expect(message.examples.length).toBeGreaterThan(0)
    for (const example of message.examples) {
      for (const part of ['headers', 'payload'] as const) {
        if (example[part] === undefined) continue
        const isValid = ajv.compile({ $ref: `asyncapi.json#/components/messages/${name}/${part}` })
        isValid(example[part])
        expect(isValid.errors ?? []).toEqual([])
      }
    }
  },
)
