import type { KeyObject } from 'node:crypto'
import { type Delivery, formerSecretsAt, signedAtMs } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { signatureOf, signingKeyOf, subscriptionSecret, type Vault, VaultError } from '@switchhook/signing'

/** Signs attempts by the specification of Standard Webhooks (https://www.standardwebhooks.com). */
export interface Signer {
  /** Whether it can be sent as its receiver expects it: signed by the present secret, if there is one. */
  readonly canSign: (delivery: Delivery) => boolean
  /** Of an attempt that is made now; none where nothing is to be signed with. */
  readonly headersOf: (delivery: Delivery) => Readonly<Record<string, string>>
}

export interface SignerDeps {
  readonly vault: Pick<Vault, 'open'>
  readonly log: Pick<Logger, 'error'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Subscriptions that a worker meets in a while. One that is forgotten costs opening its secret again: microseconds. */
const MOST_OPENED = 10_000

export function createSigner({ vault, log, now }: SignerDeps): Signer {
  /** By whose they are and their sealed text; null for what cannot be opened, however often it is tried. */
  const opened = new Map<string, KeyObject | null>()

  function open({ tenant, subscriptionId }: Delivery, sealed: string): KeyObject | null {
    const name = `${tenant} ${subscriptionId} ${sealed}`
    const known = opened.get(name)
    if (known !== undefined) return known
    let key: KeyObject | null = null
    try {
      key = signingKeyOf(vault.open(sealed, subscriptionSecret(tenant, subscriptionId)))
    } catch (error) {
      if (!(error instanceof VaultError)) throw error
      log.error('a webhook secret cannot be opened: what needs it waits', { tenant, subscriptionId, error })
    }
    const [oldest] = opened.keys()
    if (opened.size >= MOST_OPENED && oldest !== undefined) opened.delete(oldest)
    opened.set(name, key)
    return key
  }

  return {
    canSign: (delivery) => delivery.signing === undefined || open(delivery, delivery.signing.secret) !== null,
    headersOf(delivery) {
      const { signing, deliveryId, body } = delivery
      if (signing === undefined) return {}
      const nowMs = now()
      const present = open(delivery, signing.secret)
      if (present === null) throw new Error('a delivery that cannot be signed must not be sent')
      const former = formerSecretsAt(signing, nowMs).flatMap(({ secret }) => open(delivery, secret) ?? [])
      const timestampSeconds = Math.floor(signedAtMs(delivery.trial, nowMs) / 1_000)
      return {
        'webhook-id': deliveryId,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signatureOf([present, ...former], { id: deliveryId, timestampSeconds, body }),
      }
    },
  }
}
