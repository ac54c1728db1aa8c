export { composeProvider, missingDocker } from './compose-provider.ts'
export { type Home, openHome } from './home.ts'
export { chromiumBinary, prometheusBinary } from './install-with-apt.ts'
export { installServers, localProvider } from './local-provider.ts'
export { type ClusterNode, startPrivateCluster } from './private-cluster.ts'
export { controlPrivateRabbitmq, rabbitmqVersion } from './private-rabbitmq.ts'
export { redisBinary } from './private-redis.ts'
export { DaemonFailed, startDaemon, stopDaemon } from './process/daemon.ts'
export { freePort, isTaken } from './process/free-port.ts'
export { ownEnvironment, PROXIES } from './process/own-environment.ts'
export { processIdentity, runningPid } from './process/pid-file.ts'
export { type Say, withProgress } from './process/progress.ts'
export { runCommand } from './process/run-command.ts'
export { waitUntil } from './process/wait-until.ts'
export {
  type BackingProvider,
  BackingUnavailable,
  type RabbitmqAddress,
  type RabbitmqControl,
  type RedisAddress,
  startWanted,
} from './provider.ts'
export { amqpAnswers, httpAnswers, httpSucceeds, redisAnswers } from './reachable.ts'
export { rememberPorts } from './remember-ports.ts'
export {
  composeFile,
  rabbitmqAdvancedConfigFile,
  rabbitmqConfigFile,
  redisConfigFile,
  repository,
} from './repository.ts'
export {
  type BackingOptions,
  type BackingServices,
  type ProviderName,
  startBackingServices,
} from './start-backing-services.ts'
export { temporaryFolder, temporaryFolderIn } from './temporary-folder.ts'
export { joinTestRun, leaveTestRun } from './test-run/join-test-run.ts'
export { onEndOfMake } from './test-run/on-end-of-make.ts'
export { openTestRun, type TestRun } from './test-run/test-run.ts'
