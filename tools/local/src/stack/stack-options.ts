import { integer, loadConfig, port, text } from '@switchhook/runtime'

const replicas = (fallback: number) => integer({ min: 0, max: 20 }, fallback)

/** The variables that the runner itself reads. All others are passed to the services. */
const fields = {
  SWITCHHOOK_HOME: text('.local'),
  /** 0 means any free port. */
  API_PORT: port(8080),
  DEV_IDP_PORT: port(8090),
  REPLICAS_API: replicas(1),
  REPLICAS_FANOUT: replicas(1),
  REPLICAS_WORKER: replicas(2),
}

export type StackOptions = ReturnType<typeof readStackOptions>

/** @throws ConfigError */
export function readStackOptions(env: NodeJS.ProcessEnv) {
  const { REPLICAS_API: api, REPLICAS_FANOUT: fanout, REPLICAS_WORKER: worker, ...config } = loadConfig(fields, env)
  return {
    home: config.SWITCHHOOK_HOME,
    apiPort: config.API_PORT,
    idpPort: config.DEV_IDP_PORT,
    replicas: { api, fanout, 'delivery-worker': worker },
  }
}
