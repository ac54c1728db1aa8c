/**
 * JSON Schema of an enum that travels as numbers. `names` is the table that the code uses, so that names and numbers
 * cannot drift apart.
 */
export function numberedSchema(names: Readonly<Record<string, number>>, description: string) {
  const rows = Object.entries(names)
  return {
    type: 'integer',
    description: `${description} ${rows.map(([name, value]) => `${value} ${name}`).join(', ')}.`,
    oneOf: rows.map(([title, value]) => ({ const: value, title })),
  } as const
}
