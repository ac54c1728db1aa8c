import type { Group } from './command.ts'
import { agents } from './commands/agents.ts'
import { calls } from './commands/calls.ts'
import { completing } from './commands/completion.ts'
import { deliveries, sendAgain } from './commands/deliveries.ts'
import { examining } from './commands/doctor.ts'
import { events } from './commands/events.ts'
import { explaining } from './commands/explain.ts'
import { listens } from './commands/listen.ts'
import { recovering } from './commands/recover.ts'
import { signIn } from './commands/sign-in.ts'
import { checking, subscriptions } from './commands/subscriptions.ts'
import { trigger } from './commands/trigger.ts'
import { verifying } from './commands/verify.ts'

/** Every command, in the order of the help. */
export const GROUPS: readonly Group[] = [
  signIn,
  events,
  listens,
  explaining,
  deliveries,
  sendAgain,
  recovering,
  trigger,
  calls,
  agents,
  subscriptions,
  checking,
  examining,
  verifying,
  completing,
]
