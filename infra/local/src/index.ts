export { missingDocker } from './backing/docker-engine.ts'
export { localRung } from './backing/local-rung.ts'
export { type ClusterNode, startPrivateCluster } from './backing/private-cluster.ts'
export { controlPrivateRabbitmq } from './backing/private-rabbitmq.ts'
export { redisBinary } from './backing/private-redis.ts'
export { amqpAnswers, httpAnswers, redisAnswers } from './backing/probe.ts'
export { prometheusBinary } from './backing/prometheus-binary.ts'
export {
  type RabbitmqAddress,
  type RabbitmqControl,
  type RedisAddress,
  type Rung,
  RungUnavailable,
  startWanted,
} from './backing/rung.ts'
export {
  type BackingOptions,
  type BackingServices,
  type RungName,
  startBackingServices,
} from './backing/start-backing-services.ts'
export { type Home, openHome } from './home.ts'
export { freePort } from './process/free-port.ts'
export { runningPid } from './process/pid-file.ts'
export { type Say, withProgress } from './process/progress.ts'
export { waitUntil } from './process/wait-until.ts'
export { composeFile } from './repository.ts'
export { type StackFile } from './stack/stack-file.ts'
export { readStackOptions, type StackOptions, WrongSettings } from './stack/stack-options.ts'
export { startStack } from './stack/start-stack.ts'
export { stopStack } from './stack/stop-stack.ts'
