import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readStack } from './stack.ts'

const MESSAGES: Readonly<Record<string, string>> = { 'call.status': 'callStatus', 'agent.status': 'agentStatus' }

/** Whether a webhook is as the events' document promises, which the api itself serves. */
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
    if (isDocumented === undefined) throw new Error(`no document knows ${eventType}`)
    if (!isDocumented(envelope)) throw new Error(`not as documented: ${ajv.errorsText(isDocumented.errors)}`)
  }
}
