import { styleText } from 'node:util'
import { type Say } from '@switchhook/test-servers'

type Style = Parameters<typeof styleText>[0]

/** The output of the demo: numbered scenes with requests, webhooks and verified statements. */
export interface Screen {
  scene(title: string): void
  /** Shows a request, its status and a detail. Rows that arrive before the answer are shown after it. */
  request<T>(
    request: string,
    answer: () => Promise<{ readonly status: number; readonly detail: string; readonly value: T }>,
  ): Promise<T>
  row(columns: readonly string[]): void
  verified(what: string): void
  table(title: string, rows: readonly (readonly [string, string])[]): void
}

/** Use colour only on a terminal, and only if NO_COLOR (no-color.org) is not set. */
export function createScreen(say: Say, options: { readonly colour: boolean }): Screen {
  const paint = (style: Style, text: string): string =>
    options.colour ? styleText(style, text, { validateStream: false }) : text
  const paintStatus = (status: number): string => paint(status < 300 ? 'green' : 'yellow', String(status))
  let scenes = 0
  let held: string[] | undefined
  const line = (text: string): void => {
    if (held === undefined) say(text)
    else held.push(text)
  }
  return {
    scene: (title) => {
      scenes += 1
      say('')
      say(paint('bold', `${scenes}  ${title}`))
    },
    request: async (request, answer) => {
      held = []
      try {
        const { status, detail, value } = await answer()
        say(`   ${paint('cyan', request.padEnd(52))} ${paintStatus(status)}`)
        say(`   ${paint('dim', detail)}`)
        return value
      } finally {
        for (const text of held) say(text)
        held = undefined
      }
    },
    row: (columns) => line(`   ${columns.join('  ')}`),
    verified: (what) => say(`   ${paint('green', '✓')} ${what}`),
    table: (title, rows) => {
      const width = Math.max(...rows.map(([name]) => name.length))
      say('')
      say(paint('bold', title))
      for (const [name, value] of rows) say(`   ${name.padEnd(width)}  ${value}`)
    },
  }
}
