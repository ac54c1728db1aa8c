import { feature } from '../../http/feature.ts'
import type { ContactCenter } from '../open-contact-center.ts'
import { simulateCall, simulateDevice, simulateRemote } from './simulator-routes.ts'

/** Acts on the simulated contact center from outside, as callers and devices do. */
export const simulator = feature(
  [simulateCall, simulateRemote, simulateDevice],
  ({ contactCenter }: { readonly contactCenter: Pick<ContactCenter, 'simulator'> }) => ({
    deps: contactCenter.simulator && { simulator: contactCenter.simulator },
  }),
)
