import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConsoleFile } from '@switchhook/console'
import { AppError, describeEventTypes, FAILURES, type FailureCode, PROBLEMS_PAGE } from '@switchhook/contracts'
import type { Express, RequestHandler } from 'express'
import type { RouteSpec } from '../route.ts'
import { compress, sendCompressed } from '../send.ts'
import { PROBLEM_ADVICE } from './problem-advice.ts'

const resolve = createRequire(import.meta.url).resolve
/** `pages` is a sibling of `src` and `dist`, so the relative path is the same from both. */
const own = (name: string): string => fileURLToPath(new URL(`../../../pages/${name}`, import.meta.url))

/** The api serves every asset of the pages itself, so that they work in a closed network. */
const ASSETS: Readonly<Record<string, string>> = {
  'pages.css': own('pages.css'),
  'reference.js': own('reference.js'),
  'redoc.standalone.js': resolve('redoc/bundles/redoc.standalone.js'),
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** The library sets styles from its script. The sandbox gives the pages an origin of their own, apart from the console's. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"

/** To the pages, scripts and documents are of another origin. They are public. */
export const PUBLIC_HEADERS = { 'Access-Control-Allow-Origin': '*' } as const

const CACHED = { 'Cache-Control': 'public, max-age=3600' }

/** An entry of the list in a page. @param term in HTML */
const entry = (term: string, text: string): string => `${term}<dd>${text.replaceAll('<', '&lt;')}</dd>\n`

const operation = ({ tag, operationId, method, path, summary }: RouteSpec): string =>
  entry(
    `<dt><a href="#/${tag}/${operationId.toLowerCase()}"><code>${method.toUpperCase()} ${path}</code></a></dt>`,
    summary,
  )

/** A problem's `type` leads to its entry. */
const problem = ([code, { status, title }]: [string, { readonly status: number; readonly title: string }]): string =>
  entry(`<dt id="${code}">${status} <code>${code}</code></dt>`, `${title}. ${PROBLEM_ADVICE[code as FailureCode]}`)

/**
 * Serves the readable pages of the API documents. They hold no tenant's data, so they need no token. The library
 * takes seconds on a slow line, so each page has its entries as text. Each page is a whole file, although the heads are alike:
 * a template for nine lines would cost more than it saves.
 */
export function mountPages(app: Express, routes: readonly RouteSpec[]): void {
  const pages: Readonly<Record<string, readonly [file: string, entries: readonly string[]]>> = {
    '/api/v1/docs': ['rest.html', routes.map(operation)],
    '/api/v1/docs/events': [
      'events.html',
      describeEventTypes().map(({ type, description }) =>
        entry(`<dt><a href="#/channels/webhook"><code>${type}</code></a></dt>`, description),
      ),
    ],
    [PROBLEMS_PAGE]: ['problems.html', Object.entries(FAILURES).map(problem)],
  }
  for (const [path, [name, entries]] of Object.entries(pages)) {
    app.get(
      path,
      sendFile(own(name), { 'Content-Security-Policy': POLICY }, (page) =>
        page.replace('<dl></dl>', () => `<dl>${entries.join('')}</dl>`),
      ),
    )
  }
  for (const [name, file] of Object.entries(ASSETS))
    app.get(`/api/v1/docs/assets/${name}`, sendFile(file, PUBLIC_HEADERS))
}

/** Reads and compresses the file at its first request, and keeps it: all of them together are under 3 MB. */
export function sendFile(
  file: string,
  headers: Readonly<Record<string, string>> = {},
  edit: (text: string) => string = (text) => text,
): RequestHandler {
  let read: Promise<ConsoleFile> | undefined
  async function readNow(): Promise<ConsoleFile> {
    const bytes = Buffer.from(edit(await readFile(file, 'utf8')))
    return { contentType: CONTENT_TYPES[extname(file)] ?? '', bytes, gzip: await compress(bytes) }
  }
  return async (request, response) => {
    // Without a validator, no precondition holds.
    const { 'if-match': match = '*', 'if-unmodified-since': since } = request.headers
    if (match !== '*' || since !== undefined) throw new AppError('precondition-failed')
    read ??= readNow().catch((error: unknown) => {
      read = undefined
      throw error
    })
    response.set({ ...CACHED, ...headers })
    sendCompressed(response, await read)
  }
}
