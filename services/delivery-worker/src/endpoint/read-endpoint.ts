import type { BreakerStore, Endpoint, Installation } from '@switchhook/store'

type Found = Awaited<ReturnType<BreakerStore['look']>>

interface ReadEndpointDeps {
  readonly breakers: Pick<BreakerStore, 'look'>
  readonly installation: Pick<Installation, 'confirmAbsence'>
  /** Called with each reading. */
  readonly looked: (endpoint: Endpoint, found: Found) => Found
}

/** Reads an endpoint. A subscription is absent only if this Redis holds the installation. */
export const createReadEndpoint = ({ breakers, installation, looked }: ReadEndpointDeps) =>
  installation.confirmAbsence(
    async (endpoint: Endpoint) => looked(endpoint, await breakers.look(endpoint)),
    (found) => found.status === 'fulfilled' && found.value.subscription === undefined,
  )
