import { join } from 'node:path'
import { apiFields } from '@switchhook/api'
import { workerFields } from '@switchhook/delivery-worker'
import { fanoutFields } from '@switchhook/fanout'
import type { Fields } from '@switchhook/runtime'

/** The configuration fields of each service, by the name of the service. */
export type ServiceFields = Readonly<Record<string, Fields>>

interface Row {
  readonly name: string
  readonly services: readonly string[]
  readonly fallback: string
  readonly about: string
}

const INTRODUCTION = `# Configuration

<!-- Written by \`make docs\` from the fields that the services read. -->

Every service reads its configuration from environment variables, once, at start. Durations are written
\`250ms\`, \`10s\`, \`5m\`, \`2h\` or \`7d\`. A wrong value stops the start: the message lists every problem by
variable and never repeats a value. An empty variable counts as unset.

\`make up\` passes the variables of this page on to the services, except \`NODE_ENV\`, and the ones for a
RabbitMQ or a Redis whose URL you do not set. Of a shell's other variables, services and servers get
only those that every program needs ([the runner's README](../tools/local/README.md)). The local identity
provider has [its own variables](../tools/dev-idp/README.md).

White space around a user or a password, such as the line end of a file or a byte order mark, is not
part of it. Inside, it is one line without control characters. In a URL, user and password are
percent-encoded; in \`…_USERNAME\`, \`…_PASSWORD\` and \`…_PASSWORD_FILE\` they need no encoding. Each URL
names a host. \`AMQP_URL\` takes the parameters \`heartbeat\` (in seconds), \`channelMax\` (from 256) and
\`frameMax\` (from 65536), and \`REDIS_URL\` of a single Redis takes \`family\` (4 or 6). Any other parameter
stops the start.

\`NODE_TLS_REJECT_UNAUTHORIZED=0\` stops the start in production, and elsewhere if
\`OTEL_EXPORTER_OTLP_CERTIFICATE\` is set; otherwise it is logged as a warning.
A \`DEBUG\` or \`NODE_DEBUG\` that [would show secrets](security.md#before-production) stops it everywhere.
`

/**
 * Renders the configuration reference: tables of the variables that all services read, that several read, and that only
 * one reads.
 * @throws Error for a variable without a description or with different ones
 */
export function configurationPage(services: ServiceFields): string {
  const names = Object.keys(services)
  const headingOf = ({ services: [first = '', ...others] }: Row): string =>
    others.length === names.length - 1 ? ALL : others.length > 0 ? SEVERAL : first
  const rows = Map.groupBy(rowsOf(services), headingOf)
  const sections = [ALL, SEVERAL, ...names].map((heading) => section(heading, rows.get(heading) ?? []))
  return [INTRODUCTION, ...sections].join('\n')
}

const ALL = 'All services'
const SEVERAL = 'Several services'

function rowsOf(services: ServiceFields): readonly Row[] {
  const rows = new Map<string, Row>()
  for (const [service, fields] of Object.entries(services)) {
    for (const [name, { about, fallback, shownDefault }] of Object.entries(fields)) {
      if (about === undefined)
        throw new Error(`${name} of ${service} has no description for the configuration reference`)
      const known = rows.get(name)
      if (known !== undefined && known.about !== about) throw new Error(`${name} has two different descriptions`)
      rows.set(name, {
        name,
        services: [...(known?.services ?? []), service],
        fallback: shownDefault ?? inWords(fallback),
        about,
      })
    }
  }
  return [...rows.values()]
}

function inWords(fallback: string | undefined): string {
  if (fallback === undefined) return 'required'
  return fallback === '' ? 'none' : `\`${fallback}\``
}

function section(heading: string, rows: readonly Row[]): string {
  const showsServices = heading === SEVERAL
  const header = ['variable', ...(showsServices ? ['read by'] : []), 'default', 'meaning']
  const cells = rows.map(({ name, services, fallback, about }) => [
    `\`${name}\``,
    ...(showsServices ? [services.join(', ')] : []),
    fallback,
    about,
  ])
  const lines = [header, header.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`)
  return [`## ${heading}`, '', ...lines, ''].join('\n')
}

export const SERVICES: ServiceFields = { api: apiFields, fanout: fanoutFields, 'delivery-worker': workerFields }

export const CONFIGURATION_PAGE = join(import.meta.dirname, '../../../docs/configuration.md')
