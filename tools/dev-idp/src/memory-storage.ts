import { getOrCreate } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { Adapter, AdapterPayload } from 'oidc-provider'

/** Records of one kind. The oldest are forgotten first; people then sign in again. */
const MAX_RECORDS = 10_000

/** Keeps codes, sessions and refresh tokens in memory: a restart of the provider signs everybody out. */
export function memoryStorage(): (kind: string) => Adapter {
  const kinds = new Map<string, LRUCache<string, AdapterPayload>>()
  return (kind) => {
    const records = getOrCreate(kinds, kind, () => new LRUCache<string, AdapterPayload>({ max: MAX_RECORDS }))
    const findBy = (field: 'uid' | 'userCode', value: string): AdapterPayload | undefined =>
      [...records.values()].find((record) => record[field] === value)
    return {
      upsert: async (id, payload, expiresInSeconds) => {
        records.set(id, payload, expiresInSeconds === undefined ? {} : { ttl: expiresInSeconds * 1_000 })
      },
      find: async (id) => records.get(id),
      findByUid: async (uid) => findBy('uid', uid),
      findByUserCode: async (userCode) => findBy('userCode', userCode),
      consume: async (id) => {
        const record = records.get(id)
        if (record !== undefined) record.consumed = Math.floor(Date.now() / 1_000)
      },
      destroy: async (id) => {
        records.delete(id)
      },
      revokeByGrantId: async (grantId) => {
        for (const [id, record] of records) if (record.grantId === grantId) records.delete(id)
      },
    }
  }
}
