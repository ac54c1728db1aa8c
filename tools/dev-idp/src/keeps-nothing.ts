import type { Adapter } from 'oidc-provider'

/**
 * The storage of a provider that has nothing to store: its clients are fixed, its access tokens are signed and carry
 * all that is to be known.
 */
export const keepsNothing = (): Adapter => ({
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
})

const nothing = async (): Promise<undefined> => undefined
