export { parseCommandLine, runCommandLine } from './command-line.ts'
export { type Consume, openBacking } from './open-backing.ts'
export { type Running, type Service, startService } from './start-service.ts'
export { withRedis } from './with-redis.ts'
