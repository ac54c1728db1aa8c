import type { BreakerStore, Endpoint, Installation } from '@switchhook/store'

type Found = Awaited<ReturnType<BreakerStore['readEndpoint']>>

interface ReadEndpointDeps {
  readonly breakers: Pick<BreakerStore, 'readEndpoint'>
  readonly installation: Pick<Installation, 'confirmAbsence'>
  /** Called with each read. */
  readonly seen: (endpoint: Endpoint, found: Found) => Found
}

/** Reads an endpoint. A subscription is absent only if this Redis holds the installation. */
export const createReadEndpoint = ({ breakers, installation, seen }: ReadEndpointDeps) =>
  installation.confirmAbsence(
    async (endpoint: Endpoint) => seen(endpoint, await breakers.readEndpoint(endpoint)),
    (found) => found.status === 'fulfilled' && found.value.subscription === undefined,
  )
