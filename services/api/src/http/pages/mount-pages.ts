import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describeEventTypes, FAILURES, type FailureCode, PROBLEMS_PAGE } from '@switchhook/contracts'
import type { Express } from 'express'
import type { RouteSpec } from '../route.ts'
import { sendFile } from '../send.ts'
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

/** The library sets styles from its script. The sandbox gives the pages an origin of their own, apart from the console's. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"

/** To the pages, scripts and documents are of another origin. They are public. */
export const PUBLIC_HEADERS = { 'Access-Control-Allow-Origin': '*' } as const

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
