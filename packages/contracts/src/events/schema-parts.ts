export const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const

export const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

/** JSON Schema of an enum that is transmitted as a number. `names` is the table that the code uses. */
export function numberedSchema(names: Readonly<Record<string, number>>, description: string) {
  const rows = Object.entries(names)
  return {
    type: 'integer',
    description: `${description} ${rows.map(([name, value]) => `${value} ${name}`).join(', ')}.`,
    oneOf: rows.map(([title, value]) => ({ const: value, title })),
  } as const
}
