import type { Schema } from './route.ts'

export const text = (description: string, example: string) =>
  ({ type: 'string', description, examples: [example] }) as const

export const textOrNull = (description: string, example: string | null) =>
  ({ type: ['string', 'null'], description, examples: [example] }) as const

export const flag = (description: string, example: boolean) =>
  ({ type: 'boolean', description, examples: [example] }) as const

export const count = (description: string, example: number) =>
  ({ type: 'integer', minimum: 0, description, examples: [example] }) as const

/** A bound of a window in a query. */
export const time = (description: string, example = '2026-11-20T17:00:00Z') =>
  ({ type: 'string', format: 'date-time', description, examples: [example] }) as const

/** An object that always has all of its fields. */
export const objectOf = <Properties extends Schema>(description: string, properties: Properties) =>
  ({ type: 'object', description, required: Object.keys(properties), properties }) as const
