import { styleText } from 'node:util'

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'bold'

/** Colours a text, or returns it as it is. */
export type Style = (tone: Tone, text: string) => string

const FORMATS = { good: 'green', bad: 'red', warn: 'yellow', dim: 'dim', bold: 'bold' } as const

export const plain: Style = (_tone, text) => text
export const coloured: Style = (tone, text) => styleText(FORMATS[tone], text, { validateStream: false })

/** Colour is for terminals, unless `NO_COLOR` is set (no-color.org). */
export const styleFor = (isTty: boolean, env: NodeJS.ProcessEnv): Style =>
  isTty && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? coloured : plain
