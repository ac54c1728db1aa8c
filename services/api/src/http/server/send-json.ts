import type { Response } from 'express'

/** Ends the response with a JSON body, or without a body if it is undefined. */
export function sendJson(response: Response, status: number, body: unknown, type = 'application/json'): void {
  response.status(status)
  if (body === undefined) return void response.end()
  response.set('Content-Type', type === 'application/json' ? 'application/json; charset=utf-8' : type)
  response.end(JSON.stringify(body))
}
