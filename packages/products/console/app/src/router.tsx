import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { loadLate } from './late-files.ts'
import { DELIVERY_FILTERS, ENDPOINT_FILTERS, only, parseSearch, stringifySearch } from './search-params.ts'
import { Shell } from './shell.tsx'
import { Empty, Failure, Loading } from './ui/parts.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: () => <Empty title="There is no such page." /> })

/** @param filters the parameters of its address; it ignores others */
const screen = <const Path extends string, Filter extends string>(
  path: Path,
  filters: readonly Filter[],
  load: () => Promise<() => ReactNode>,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: only(...filters),
    component: lazyRouteComponent(async () => ({ default: await loadLate(load) })),
  })

const screens = [
  screen('/', [], async () => (await import('./screens/overview.tsx')).Overview),
  screen('/endpoints', ['q', 'show', 'most'], async () => (await import('./screens/endpoints.tsx')).Endpoints),
  screen(
    '/endpoints/$subscriptionId',
    ['tab', 'hours', ...ENDPOINT_FILTERS],
    async () => (await import('./screens/endpoint/endpoint.tsx')).Endpoint,
  ),
  screen('/events', ['q', 'eventType', 'from', 'to'], async () => (await import('./screens/events.tsx')).Events),
  screen('/events/$eventId', [], async () => (await import('./screens/explain/explain.tsx')).Explain),
  screen('/deliveries', DELIVERY_FILTERS, async () => (await import('./screens/delivery-list.tsx')).Deliveries),
  screen('/parked', [], async () => (await import('./screens/parked.tsx')).Parked),
  screen('/recoveries', [], async () => (await import('./screens/recoveries.tsx')).Recoveries),
  screen('/recoveries/$recoveryId', [], async () => (await import('./screens/recoveries.tsx')).RecoveryScreen),
  screen(
    '/live',
    ['show', 'eventType', 'callId', 'agentUri', 'subscriptionId'],
    async () => (await import('./screens/live-tail.tsx')).LiveTail,
  ),
  screen('/agents', ['q', 'show'], async () => (await import('./screens/wallboard.tsx')).Wallboard),
  screen('/simulator', [], async () => (await import('./screens/simulator.tsx')).Simulator),
  screen('/audit', ['list', 'action', 'from', 'to'], async () => (await import('./screens/audit.tsx')).Audit),
] as const

export const router = createRouter({
  routeTree: root.addChildren([...screens]),
  // The base element holds the path prefix, if there is one.
  basepath: new URL(document.baseURI).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
