import { readFileSync } from 'node:fs'
import { createClient } from './client.ts'
import { OPERATIONS } from './generated/operations.ts'

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
}

/** The paths, with `{}` for each id, as the table of the client has them. */
const { paths } = JSON.parse(
  readFileSync(`${import.meta.dirname}/../../../../docs/openapi.json`, 'utf8').replaceAll(/\{\w+\}/g, '{}'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

test('every operation of the document is one method of the client', () => {
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const lines = Object.values(OPERATIONS).flatMap((group) => Object.values<string>(group))
  expect(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).toSorted()).toEqual(documented.toSorted())
  const client = createClient({ baseUrl: 'http://x' })
  for (const [group, methods] of Object.entries(OPERATIONS)) {
    expect(Object.keys(client[group as keyof typeof client])).toEqual(Object.keys(methods))
  }
})

test('a method sends an Idempotency-Key exactly if its operation takes one', () => {
  for (const line of Object.values(OPERATIONS).flatMap((group) => Object.values<string>(group))) {
    const [method = '', path = '', ...flags] = line.split(' ')
    const { parameters = [] } = paths[path]?.[method.toLowerCase()] ?? {}
    expect([line, parameters.some(({ name }) => name === 'Idempotency-Key')]).toEqual([line, flags.includes('key')])
  }
})
