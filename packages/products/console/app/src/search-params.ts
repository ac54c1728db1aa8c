import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Filters are texts in the address, as people expect them: `?state=parked`, without JSON. */
export type Filters = Readonly<Record<string, string | undefined>>

export const parseSearch = (search: string): Filters => Object.fromEntries(new URLSearchParams(search))

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const set = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
  const text = new URLSearchParams(set as [string, string][]).toString()
  return text === '' ? '' : `?${text}`
}

/** Keeps the named parameters of an address. Anything else in it has no effect. */
export const only =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      names.map((name) => [name, search[name]]).filter(([, value]) => typeof value === 'string' && value !== ''),
    ) as { readonly [name in Name]?: string }

export const DELIVERY_FILTERS = [
  'state',
  'parkedReason',
  'outcome',
  'status',
  'subscriptionId',
  'eventType',
  'callId',
  'agentUri',
  'from',
  'to',
] as const

/** Of the deliveries of one endpoint. */
export const ENDPOINT_FILTERS = ['state', 'outcome', 'eventType', 'from', 'to'] as const

/** The filters of the current screen, and a function that changes some of them. An empty text removes a filter. */
export function useFilters(): readonly [Filters, (patch: Filters) => void] {
  const filters: Filters = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (patch: Filters) =>
      void navigate({ to: '.', search: ((now: Filters) => ({ ...now, ...patch })) as never, replace: true }),
    [navigate],
  )
  return [filters, change]
}
