import type { LinkState } from '@switchhook/platform'
import type { Metrics } from '@switchhook/runtime'

const STATES: readonly LinkState[] = ['connected', 'standby', 'lost']

/** Shows the link to the platform as one series per state. */
export function showLink(metrics: Pick<Metrics, 'gauges'>, link: () => LinkState): void {
  metrics.gauges(
    'switchhook_platform_link',
    'Link to the contact-center platform: 1 for its present state, 0 for the others.',
    () => STATES.map((state) => ({ labels: { state }, value: link() === state ? 1 : 0 })),
  )
}
