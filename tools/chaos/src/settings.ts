import { AGENTS } from './load/calls.ts'

const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]

/** A retry schedule that fits into a run (`SCHEDULE_MS` is its sum), and deadlines that fit the schedule. */
export const SETTINGS = {
  DELIVERY_RETRY_WAITS: '1s,2s,3s,5s,5s,8s,8s',
  DELIVERY_TIMEOUT: '3s',
  SHUTDOWN_GRACE: '8s',
  // The records of a run are read at its end, and ten thousand faults take half a day.
  DELIVERY_RETENTION: '1d',
  BREAKER_FAILURES: '5',
  BREAKER_COOLDOWN: '2s',
  WRAP_UP_SECONDS: '0',
  // The whole load is one client, so its rate limit must never apply.
  RATE_LIMIT: '999999999/1m',
  // A long run has thousands of exhausted deliveries to send again at its end.
  RECOVERY_RATE: '200',
  LOG_LEVEL: 'info',
  SIMULATOR_AGENTS: JSON.stringify(agents),
}
