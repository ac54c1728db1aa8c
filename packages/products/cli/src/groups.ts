import type { Command, Group } from './command.ts'
import { agents } from './commands/agents.ts'
import { calls } from './commands/calls.ts'
import { completion } from './commands/completion.ts'
import { deliveries, redeliver } from './commands/deliveries.ts'
import { doctor } from './commands/doctor.ts'
import { events } from './commands/events.ts'
import { explain } from './commands/explain.ts'
import { listenCommand } from './commands/listen.ts'
import { recover } from './commands/recover.ts'
import { login, logout, profile } from './commands/sign-in.ts'
import { check, subscriptions } from './commands/subscriptions.ts'
import { trigger } from './commands/trigger.ts'
import { verify } from './commands/verify.ts'

const top = (...commands: readonly Command[]): Group => ({ name: '', summary: '', commands })

/** Every command, in the order of the help. */
export const GROUPS: readonly Group[] = [
  top(login, logout, profile),
  events,
  top(listenCommand, explain),
  deliveries,
  top(redeliver, recover),
  trigger,
  calls,
  agents,
  subscriptions,
  top(check, doctor, verify, completion),
]
