import { describeApi } from '../describe-api.ts'

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, object>> }>>
  }
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly parameters?: readonly { readonly name: string }[] } }>
  >
}

const { components, paths } = describeApi() as unknown as Document

const pages = Object.entries(components.schemas).filter(([, { properties }]) => properties?.['nextCursor'])

test('every page with a nextCursor has the same description', () => {
  expect(pages.map(([name]) => name).toSorted()).toEqual([
    'AgentPage',
    'AuditPage',
    'CallPage',
    'DeliveryPage',
    'EventPage',
    'ExplainedEvent',
    'RecoveryPage',
    'Summary',
  ])
  expect(new Set(pages.map(([, { properties }]) => JSON.stringify(properties?.['nextCursor']))).size).toBe(1)
})

test.each(pages)('%s has one list, which shows whether the page is empty', (_name, { properties = {} }) => {
  const lists = Object.values(properties).filter((schema) => 'type' in schema && schema.type === 'array')
  expect(lists).toHaveLength(1)
})

test.each(['/api/v1/audit', '/api/v1/webhooks/events', '/api/v1/webhooks/subscriptions/{id}/deliveries'])(
  '%s takes the same limit and cursor as the other lists',
  (path) => {
    const taken = (of: string) =>
      paths[of]?.get?.parameters?.filter(({ name }) => name === 'limit' || name === 'cursor').map((it) => ({ ...it }))
    expect(taken(path)).toHaveLength(2)
    expect(taken(path)).toEqual(taken('/api/v1/webhooks/events'))
  },
)
