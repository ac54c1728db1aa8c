import type { LinkState } from '@switchhook/platform'
import type { Metrics } from '@switchhook/runtime'

const STATES: readonly LinkState[] = ['connected', 'standby', 'lost']

/** Shows the link to the platform as one series per state, and the platform's channels without a stored call. */
export function showLink(
  metrics: Pick<Metrics, 'gauge' | 'gauges'>,
  { link, unknownChannels }: { readonly link: () => LinkState; readonly unknownChannels: () => number },
): void {
  metrics.gauge(
    'switchhook_platform_unknown_channels',
    'Channels of the contact-center platform that belong to no stored call.',
    unknownChannels,
  )
  metrics.gauges(
    'switchhook_platform_link',
    'Link to the contact-center platform: 1 for its present state, 0 for the others.',
    () => STATES.map((state) => ({ labels: { state }, value: link() === state ? 1 : 0 })),
  )
}
