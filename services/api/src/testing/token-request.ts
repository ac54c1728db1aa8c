import { type KeyObject, sign } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request } from 'express'

const app = express()

/** A request of Express that no client sent. */
export function requestWith(authorization: string, url = '/', host = 'api'): Request {
  const message = new IncomingMessage(new Socket())
  Object.assign(message, { method: 'GET', url, headers: { host, authorization } })
  return Object.setPrototypeOf(message, app.request) as Request
}

/** A token with these parts; a part that is no JSON is empty. */
export function signedWith(privateKey: KeyObject, header: object, claims: unknown): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

export const encode = (part: unknown): string => Buffer.from(JSON.stringify(part) ?? '').toString('base64url')
