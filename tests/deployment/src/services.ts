import { apiFields, apiRules } from '@switchhook/api'
import { workerFields, workerRules } from '@switchhook/delivery-worker'
import { devIdpFields, neverInProduction } from '@switchhook/dev-idp'
import { fanoutFields } from '@switchhook/fanout'
import { commonRules, type Fields, loadConfig, type Rule } from '@switchhook/runtime'

/** The images that are built from the one Dockerfile. */
export const IMAGES = ['api', 'fanout', 'delivery-worker', 'dev-idp'] as const

const service = <F extends Fields>(fields: F, rules: readonly Rule<F>[] = []) => ({
  variables: Object.keys(fields),
  load: (env: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> => loadConfig(fields, env, rules),
})

const SETTINGS: Readonly<Record<string, ReturnType<typeof service>>> = {
  api: service(apiFields, [...commonRules, ...apiRules]),
  fanout: service(fanoutFields, commonRules),
  'delivery-worker': service(workerFields, [...commonRules, ...workerRules]),
  'dev-idp': service(devIdpFields, [neverInProduction]),
}

/** The configuration variables of a service, and a loader that applies its rules. */
export function settingsOf(name: string): ReturnType<typeof service> {
  const settings = SETTINGS[name]
  if (settings === undefined) throw new Error(`${name} is not a service`)
  return settings
}
