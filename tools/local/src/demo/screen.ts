import { styleText } from 'node:util'
import { type Say } from '@switchhook/test-servers'

type Style = Parameters<typeof styleText>[0]

const GUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

export type Screen = ReturnType<typeof createScreen>

/**
 * The output of the demo: numbered scenes with requests, webhooks and verified statements. Use colour only on a terminal, and
 * only if NO_COLOR (no-color.org) is not set.
 */
export function createScreen(say: Say, options: { readonly colour: boolean }) {
  const paint = (style: Style, text: string): string =>
    options.colour ? styleText(style, text, { validateStream: false }) : text
  const paintStatus = (status: number): string => paint(status < 300 ? 'green' : 'yellow', String(status))
  let scenes = 0
  let held: string[] | undefined
  const line = (text: string): void => {
    if (held === undefined) say(text)
    else held.push(text)
  }
  /** Shows a request, its status and a detail. Rows that arrive before the answer are shown after it. */
  async function request<T>(
    what: string,
    answer: () => Promise<{ readonly status: number; readonly detail: string; readonly value: T }>,
  ): Promise<T> {
    held = []
    try {
      const { status, detail, value } = await answer()
      say(`   ${paint('cyan', what.padEnd(52))} ${paintStatus(status)}`)
      if (detail !== '') say(`   ${paint('dim', detail)}`)
      return value
    } finally {
      for (const text of held) say(text)
      held = undefined
    }
  }
  return {
    scene: (title: string): void => {
      scenes += 1
      say('')
      say(paint('bold', `${scenes}  ${title}`))
    },
    request,
    /** `fetch` that shows each request that changes something, with its body. */
    fetch: (async (url, init = {}) => {
      const { method = 'GET', body } = init
      if (method === 'GET') return fetch(url, init)
      const path = decodeURIComponent(new URL(url instanceof Request ? url.url : url).pathname).replaceAll(GUID, '{id}')
      return request(`${method} ${path}`, async () => {
        const response = await fetch(url, init)
        return { status: response.status, detail: typeof body === 'string' ? body : '', value: response }
      })
    }) satisfies typeof fetch,
    row: (columns: readonly string[]): void => line(`   ${columns.join('  ')}`),
    verified: (what: string): void => say(`   ${paint('green', '✓')} ${what}`),
    table: (title: string, rows: readonly (readonly [string, string])[]): void => {
      const width = Math.max(...rows.map(([name]) => name.length))
      say('')
      say(paint('bold', title))
      for (const [name, value] of rows) say(`   ${name.padEnd(width)}  ${value}`)
    },
  }
}
