import { numberOf } from '@switchhook/platform'
import {
  authorityFile,
  type Config,
  choice,
  described,
  type Field,
  FieldError,
  integer,
  json,
  optional,
  type Rule,
  secret,
  secretFile,
  text,
} from '@switchhook/runtime'
import { type PbxAgent, pbxAgents } from './agents.ts'
import type { AriServer } from './ari/ari-client.ts'
import { isApplicationName } from './ari/channel-mark.ts'
import { isEndpointName } from './dial-string.ts'

const checked = (expected: string, holds: (raw: string) => boolean, inner: Field<string> = text()): Field<string> => ({
  ...inner,
  parse: (raw) => {
    if (!holds(raw)) throw new FieldError(`must be ${expected}`)
    return raw
  },
})

/** JSON Schema 2020-12 of `ASTERISK_AGENTS`. */
const agentsSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['agentUri', 'tenant', 'endpoint'],
    properties: {
      agentUri: { type: 'string', minLength: 1, maxLength: 255 },
      tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
      endpoint: { type: 'string', minLength: 1, maxLength: 64 },
      extension: { type: ['string', 'null'], pattern: '^\\+?[0-9*#]{1,32}$' },
      answer: { enum: ['talk', 'again', 'connected', 'none'] },
    },
    additionalProperties: false,
  },
} as const

type AgentEntry = Pick<PbxAgent, 'agentUri' | 'tenant' | 'endpoint'> & Partial<Pick<PbxAgent, 'extension' | 'answer'>>

function isServerUrl(raw: string): boolean {
  const url = URL.parse(raw)
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
}

const isHostList = (raw: string): boolean => raw.split(',').every((host) => /^[a-z0-9][a-z0-9.-]*$/.test(host.trim()))

/** The settings of `PLATFORM=asterisk` (docs/asterisk.md). */
export const asteriskFields = {
  ASTERISK_URL: described(
    "Asterisk's HTTP server, such as `https://pbx.example:8089`. Required with `PLATFORM=asterisk` ([Asterisk](asterisk.md)).",
    optional(checked('an http:// or https:// URL without credentials', isServerUrl)),
  ),
  ASTERISK_USER: described('User of `ari.conf`.', secret('switchhook')),
  ASTERISK_PASSWORD_FILE: described(
    'Path of the file with its password. Required with `PLATFORM=asterisk`.',
    optional(secretFile()),
  ),
  ASTERISK_CA_FILE: described(
    "Path of the PEM file with the certificate authority of Asterisk's certificate. Unset: the public ones.",
    authorityFile(),
  ),
  ASTERISK_APP: described(
    'Name of the Stasis application in the dialplan. Installations that share an Asterisk need different names.',
    checked('1 to 64 letters, digits, - or _', isApplicationName, text('switchhook')),
  ),
  ASTERISK_AGENTS: described(
    'Agents and their phones: JSON `[{"agentUri", "tenant", "endpoint", "extension"?, "answer"?}]`. `answer` is `talk`, `again`, `connected` or `none` (default). Required with `PLATFORM=asterisk`.',
    json<readonly AgentEntry[]>(agentsSchema, '[]'),
    'none',
  ),
  ASTERISK_TRUNK: described(
    'Endpoint of the trunk to the outside, from `pjsip.conf`. Required with `PLATFORM=asterisk`.',
    optional(checked('the name of an endpoint', isEndpointName)),
  ),
  ASTERISK_SIP_DOMAINS: described(
    'Hosts that may be dialled by SIP URI through the trunk, separated by commas. All other SIP URIs are refused.',
    optional(checked('host names, separated by commas', isHostList)),
  ),
  ASTERISK_DEFAULT_CLI: described(
    'Number that called parties see if `dial` names none. Required with `PLATFORM=asterisk`.',
    optional(checked('a phone number such as +15550100', (raw) => numberOf(raw) !== null)),
  ),
  ASTERISK_RING_SECONDS: described('How long a phone rings.', integer({ min: 5, max: 300 }, 30)),
  ASTERISK_MANAGER_USER: described('User of `manager.conf`, for phones with `answer: talk`.', optional(secret())),
  ASTERISK_MANAGER_PASSWORD_FILE: described('Path of the file with its password.', optional(secretFile())),
}

type AsteriskConfig = Config<typeof asteriskFields>

/** The fields that the rules read, some of them from the api. */
export const ruledFields = {
  ...asteriskFields,
  PLATFORM: optional(choice(['simulator', 'asterisk'])),
  NODE_ENV: text(),
}

type AsteriskRule = Rule<typeof ruledFields>

const REQUIRED = [
  'ASTERISK_URL',
  'ASTERISK_PASSWORD_FILE',
  'ASTERISK_AGENTS',
  'ASTERISK_TRUNK',
  'ASTERISK_DEFAULT_CLI',
] as const

/** Not a secret: it is in infra/docker/asterisk/secrets. */
const DEVELOPMENT_PASSWORD = 'for-development-only'

const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]']

const rules: readonly AsteriskRule[] = [
  (config) => {
    const missing = REQUIRED.filter((name) => config[name] === undefined || config[name].length === 0)
    return missing.length > 0 ? `PLATFORM=asterisk requires ${missing.join(', ')}` : undefined
  },
  (config) => {
    try {
      pbxAgents(agentsOf(config))
      return undefined
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return `ASTERISK_AGENTS: ${error.message}`
    }
  },
  ({ ASTERISK_AGENTS, ...config }) =>
    ASTERISK_AGENTS.some(({ answer }) => answer === 'talk') && managerOf(config) === null
      ? 'ASTERISK_AGENTS: answer "talk" requires ASTERISK_MANAGER_USER and ASTERISK_MANAGER_PASSWORD_FILE'
      : undefined,
  ({ ASTERISK_URL, NODE_ENV }) => {
    if (ASTERISK_URL === undefined || NODE_ENV !== 'production') return undefined
    const { protocol, hostname } = new URL(ASTERISK_URL)
    // Every request carries the password.
    return protocol === 'https:' || THIS_MACHINE.includes(hostname)
      ? undefined
      : 'ASTERISK_URL must start with https:// in production, unless Asterisk is on this machine'
  },
  ({ NODE_ENV, ...config }) => {
    const names = ['ASTERISK_PASSWORD_FILE', 'ASTERISK_MANAGER_PASSWORD_FILE'] as const
    const known = NODE_ENV === 'production' ? names.find((name) => config[name] === DEVELOPMENT_PASSWORD) : undefined
    return known && `${known} has the password for development, which is public`
  },
]

export const asteriskRules = rules.map(
  (rule): AsteriskRule =>
    (config) =>
      config.PLATFORM === 'asterisk' ? rule(config) : undefined,
)

const agentsOf = ({ ASTERISK_AGENTS }: Pick<AsteriskConfig, 'ASTERISK_AGENTS'>): readonly PbxAgent[] =>
  ASTERISK_AGENTS.map((agent) => ({ extension: null, answer: 'none', ...agent }))

type ManagerConfig = Pick<AsteriskConfig, 'ASTERISK_MANAGER_USER' | 'ASTERISK_MANAGER_PASSWORD_FILE'>

/** null: no agent's phone answers a NOTIFY. */
const managerOf = ({ ASTERISK_MANAGER_USER: user, ASTERISK_MANAGER_PASSWORD_FILE: password }: ManagerConfig) =>
  user === undefined || password === undefined ? null : { user, password }

type ServerConfig = Pick<
  AsteriskConfig,
  'ASTERISK_URL' | 'ASTERISK_USER' | 'ASTERISK_PASSWORD_FILE' | 'ASTERISK_CA_FILE'
>

/** Asterisk's address and the credentials. The URL and the password must be set. */
export const asteriskServer = (config: ServerConfig): AriServer => ({
  url: new URL(config.ASTERISK_URL ?? ''),
  user: config.ASTERISK_USER,
  password: config.ASTERISK_PASSWORD_FILE ?? '',
  ca: config.ASTERISK_CA_FILE ?? null,
})

export type AsteriskSettings = ReturnType<typeof asteriskSettings>

/** The adapter's settings, from a configuration that the rules have accepted. */
export const asteriskSettings = (config: AsteriskConfig) => ({
  server: asteriskServer(config),
  manager: managerOf(config),
  app: config.ASTERISK_APP,
  agents: agentsOf(config),
  trunk: {
    endpoint: config.ASTERISK_TRUNK ?? '',
    sipDomains: (config.ASTERISK_SIP_DOMAINS ?? '').split(',').flatMap((host) => host.trim() || []),
  },
  defaultCli: config.ASTERISK_DEFAULT_CLI ?? '',
  ringSeconds: config.ASTERISK_RING_SECONDS,
})
