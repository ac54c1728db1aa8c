export { type Consume, openBacking } from './open-backing.ts'
export { type Running, type Service, startService } from './start-service.ts'
