/** An agent of a local Asterisk. */
export interface Person {
  /** Of the endpoint. */
  readonly name: string
  readonly extension: string
  readonly agentUri: string
  readonly tenant: string
  /** How the `answer` command works for this phone (docs/asterisk.md). */
  readonly answer: 'talk' | 'again' | 'none'
}

/** They have the URIs of the simulator's agents. */
export const PEOPLE: readonly Person[] = [
  { name: 'alice', extension: '8101', agentUri: 'sip:alice@acme.example', tenant: 'acme', answer: 'talk' },
  { name: 'bob', extension: '8102', agentUri: 'sip:bob@acme.example', tenant: 'acme', answer: 'again' },
  { name: 'carol', extension: '8201', agentUri: 'sip:carol@globex.example', tenant: 'globex', answer: 'none' },
]

/** Many agents of one tenant, for load. */
export const manyPeople = (count: number): readonly Person[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `agent-${at + 1}`,
    extension: String(9_001 + at),
    agentUri: `sip:agent-${at + 1}@acme.example`,
    tenant: 'acme',
    answer: at % 2 === 0 ? 'talk' : 'again',
  }))
