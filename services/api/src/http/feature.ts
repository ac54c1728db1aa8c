import type { TimerOwners } from '../state/timer-loop.ts'
import { bind, type Route, type RouteOf, type RouteSpec } from './route.ts'

/** A group of routes, and how to open their dependencies. */
export interface Feature<Parts> {
  readonly specs: readonly RouteSpec[]
  /** Opens the feature in a starting api. @param parts what the api has opened before its features */
  readonly open: (parts: Parts) => Promise<OpenedFeature>
}

interface Opening<Deps> {
  /** Null: this installation does not serve the routes. */
  readonly deps: Deps | null
  readonly timers?: TimerOwners
  /** Ends the requests that would not end on their own. Called before the HTTP server closes. */
  readonly endRequests?: () => Promise<void>
  /** Called after the HTTP server and the timers have stopped. */
  readonly close?: () => Promise<void>
}

type OpenedFeature = Omit<Opening<never>, 'deps'> & { readonly routes: readonly Route[] }

export const feature = <Parts, Deps>(
  routes: readonly RouteOf<Deps>[],
  open: (parts: Parts) => Opening<Deps> | Promise<Opening<Deps>>,
): Feature<Parts> => ({
  specs: routes,
  open: async (parts) => {
    const { deps, ...lifecycle } = await open(parts)
    return { ...lifecycle, routes: deps === null ? [] : routes.map((route) => bind(route, deps)) }
  },
})

/** Opens the features in order, as one. */
export async function openFeatures<Parts>(
  features: readonly Feature<Parts>[],
  parts: Parts,
): Promise<Required<OpenedFeature>> {
  const opened: OpenedFeature[] = []
  for (const one of features) opened.push(await one.open(parts))
  return {
    routes: opened.flatMap(({ routes }) => routes),
    timers: Object.assign({}, ...opened.map(({ timers }) => timers)) as TimerOwners,
    endRequests: async () => {
      for (const one of opened) await one.endRequests?.()
    },
    close: async () => {
      for (const one of opened.toReversed()) await one.close?.()
    },
  }
}
