/** The variables that the runner itself reads. All others are passed to the services. */
export interface StackOptions {
  readonly home: string
  /** 0 means any free port. */
  readonly apiPort: number
  readonly idpPort: number
  readonly replicas: Readonly<Record<'api' | 'fanout' | 'delivery-worker', number>>
}

/** Invalid settings. The message names all of them. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings'
}

/** @throws WrongSettings */
export function readStackOptions(env: NodeJS.ProcessEnv): StackOptions {
  const problems: string[] = []
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const raw = env[name] || String(fallback)
    if (!/^\d+$/.test(raw) || Number(raw) < min || Number(raw) > max) {
      problems.push(`${name} must be a whole number from ${min} to ${max}`)
    }
    return Number(raw)
  }
  const options = {
    home: env['SWITCHHOOK_HOME'] || '.local',
    apiPort: integer('API_PORT', 8080, 0, 65_535),
    idpPort: integer('DEV_IDP_PORT', 8090, 0, 65_535),
    replicas: {
      api: integer('REPLICAS_API', 1, 0, 20),
      fanout: integer('REPLICAS_FANOUT', 1, 0, 20),
      'delivery-worker': integer('REPLICAS_WORKER', 2, 0, 20),
    },
  }
  if (problems.length > 0) throw new WrongSettings(problems.join('\n'))
  return options
}
