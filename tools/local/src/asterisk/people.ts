/** The agents of a local Asterisk, with the URIs of the simulator's agents. Carol's phone cannot be answered by a command. */
export const PEOPLE = [
  { name: 'alice', extension: '8101', agentUri: 'sip:alice@acme.example', tenant: 'acme', answer: 'talk' },
  { name: 'bob', extension: '8102', agentUri: 'sip:bob@acme.example', tenant: 'acme', answer: 'again' },
  { name: 'carol', extension: '8201', agentUri: 'sip:carol@globex.example', tenant: 'globex', answer: 'none' },
] as const
