/** Messages in each queue, unacknowledged ones included, by the management API. The broker counts anew once a second. */
export async function countMessages(managementUrl: string): Promise<Readonly<Record<string, number>>> {
  const { origin, username, password } = new URL(managementUrl)
  const response = await fetch(`${origin}/api/queues/%2F`, {
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
  })
  if (!response.ok) throw new Error(`the broker's management API answered ${response.status}`)
  const queues = (await response.json()) as readonly { readonly name: string; readonly messages?: number }[]
  return Object.fromEntries(queues.map(({ name, messages }) => [name, messages ?? 0]))
}
