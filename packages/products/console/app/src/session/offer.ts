import type { Schemas } from '@switchhook/client'

/** What the sign-in page offers. `config.json` has the form of the API's offer to the command line. */
export type Offer = Schemas['SignInOffer']

const offerAddress = (query = ''): URL => new URL(`config.json${query}`, document.baseURI)

/** @throws if the service does not answer */
export async function readOffer(signal?: AbortSignal): Promise<Offer> {
  const response = await fetch(offerAddress(), { signal: signal ?? null })
  if (!response.ok) throw new Error(`config.json: ${response.status}`)
  return (await response.json()) as Offer
}

/**
 * Returns whether the service knows the organization, and then offers its issuer to this browser. The page must be loaded
 * again: its policy does not allow requests to that issuer yet. @throws if the service does not answer
 */
export async function nameOrganization(name: string): Promise<boolean> {
  const response = await fetch(offerAddress(`?${new URLSearchParams({ organization: name }).toString()}`))
  if (!response.ok && response.status !== 404) throw new Error(`config.json: ${response.status}`)
  return response.ok
}
