import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { DELIVERY_FILTERS, only, parseSearch, stringifySearch } from './search-params.ts'
import { Shell } from './shell.tsx'
import { Empty, Failure, Loading } from './ui/parts.tsx'

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title="There is no such page." />,
})

const route = { getParentRoute: () => root }

/** One line per screen: its address, its filters, its code. */
const screens = [
  createRoute({
    ...route,
    path: '/',
    component: lazyRouteComponent(() => import('./screens/overview.tsx'), 'Overview'),
  }),
  createRoute({
    ...route,
    path: '/endpoints',
    validateSearch: only('q', 'show', 'most'),
    component: lazyRouteComponent(() => import('./screens/endpoints.tsx'), 'Endpoints'),
  }),
  createRoute({
    ...route,
    path: '/endpoints/$subscriptionId',
    validateSearch: only('tab', 'state', 'outcome', 'eventType', 'from', 'to', 'hours'),
    component: lazyRouteComponent(() => import('./screens/endpoint/endpoint.tsx'), 'Endpoint'),
  }),
  createRoute({
    ...route,
    path: '/events',
    validateSearch: only('q', 'eventType', 'from', 'to'),
    component: lazyRouteComponent(() => import('./screens/events.tsx'), 'Events'),
  }),
  createRoute({
    ...route,
    path: '/events/$eventId',
    component: lazyRouteComponent(() => import('./screens/explain/explain.tsx'), 'Explain'),
  }),
  createRoute({
    ...route,
    path: '/deliveries',
    validateSearch: only(...DELIVERY_FILTERS),
    component: lazyRouteComponent(() => import('./screens/deliveries.tsx'), 'Deliveries'),
  }),
  createRoute({
    ...route,
    path: '/parked',
    component: lazyRouteComponent(() => import('./screens/parked.tsx'), 'Parked'),
  }),
  createRoute({
    ...route,
    path: '/recoveries',
    component: lazyRouteComponent(() => import('./screens/recoveries.tsx'), 'Recoveries'),
  }),
  createRoute({
    ...route,
    path: '/recoveries/$recoveryId',
    component: lazyRouteComponent(() => import('./screens/recovery.tsx'), 'RecoveryScreen'),
  }),
  createRoute({
    ...route,
    path: '/live',
    validateSearch: only('show', 'eventType', 'callId', 'agentUri', 'subscriptionId'),
    component: lazyRouteComponent(() => import('./screens/live-tail.tsx'), 'LiveTail'),
  }),
  createRoute({
    ...route,
    path: '/agents',
    validateSearch: only('q', 'show'),
    component: lazyRouteComponent(() => import('./screens/wallboard.tsx'), 'Wallboard'),
  }),
  createRoute({
    ...route,
    path: '/simulator',
    component: lazyRouteComponent(() => import('./screens/simulator.tsx'), 'Simulator'),
  }),
  createRoute({
    ...route,
    path: '/audit',
    validateSearch: only('list', 'action', 'subscriptionId', 'from', 'to'),
    component: lazyRouteComponent(() => import('./screens/audit.tsx'), 'Audit'),
  }),
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
