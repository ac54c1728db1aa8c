import type { ConsoleFile } from '@switchhook/console'
import type { Request, Response } from 'express'

/** Ends the response with a file, in the smallest form that the client accepts. */
export function sendCompressed(
  request: Request,
  response: Response,
  { contentType, bytes, brotli, gzip }: ConsoleFile,
): void {
  response.set({ 'Content-Type': contentType, Vary: 'Accept-Encoding' })
  const accepts = (encoding: string): boolean => request.acceptsEncodings(encoding) === encoding
  if (brotli !== undefined && accepts('br')) response.set('Content-Encoding', 'br').end(brotli)
  else if (gzip !== undefined && accepts('gzip')) response.set('Content-Encoding', 'gzip').end(gzip)
  else response.end(bytes)
}
