import { type KeyObject, sign } from 'node:crypto'

/** A token with these parts; a part that is no JSON is empty. */
export function signedWith(privateKey: KeyObject, header: object, claims: unknown): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

export const encode = (part: unknown): string => Buffer.from(JSON.stringify(part) ?? '').toString('base64url')
