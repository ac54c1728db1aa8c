import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readStack } from './stack.ts'

const MESSAGES: Readonly<Record<string, string>> = { 'call.status': 'callStatus', 'agent.status': 'agentStatus' }

/** Loads the AsyncAPI document from the api. Returns a function that throws if a webhook does not match it. */
export async function openEventsDocument(): Promise<(eventType: string, envelope: unknown) => void> {
  const response = await fetch(`${readStack().urls.apis[0]}/api/v1/asyncapi.json`)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema((await response.json()) as object, 'asyncapi.json')
  const checks = new Map<string, ValidateFunction>()
  for (const [eventType, name] of Object.entries(MESSAGES)) {
    checks.set(eventType, ajv.compile({ $ref: `asyncapi.json#/components/messages/${name}/payload` }))
  }
  return (eventType, envelope) => {
    const isDocumented = checks.get(eventType)
    if (isDocumented === undefined) throw new Error(`the AsyncAPI document has no ${eventType}`)
    if (!isDocumented(envelope))
      throw new Error(`does not match the AsyncAPI document: ${ajv.errorsText(isDocumented.errors)}`)
  }
}
