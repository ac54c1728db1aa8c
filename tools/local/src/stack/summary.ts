import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
import type { StackFile } from './stack-file.ts'

/** The addresses of a running stack, and a command that gets a token. */
export function summary({ home, urls, processes }: StackFile): string {
  const [{ tenant, clientId, clientSecret }] = DEV_TENANTS
  const rows = [
    ['api', urls.apis.map((api) => `${api}/api/v1`).join('  ')],
    ['API reference', urls.api === null ? '' : `${urls.api}/api/v1/docs`],
    ['console', urls.api === null ? '' : `${urls.api}/console/  (acme-admin, password acme-admin)`],
    ['identity provider', `${urls.devIdp}  (development only)`],
    ['RabbitMQ', withoutCredentials(urls.amqp)],
    ['RabbitMQ management', urls.rabbitmqManagement === null ? '' : withoutCredentials(urls.rabbitmqManagement)],
    ['Redis', withoutCredentials(urls.redis)],
    ['Asterisk', urls.asterisk ?? ''],
    ['its phones', urls.telephones ?? ''],
    ['processes', Object.keys(processes).toSorted().join(' ')],
    ['details and logs', `${home}/stack.json  ${home}/log/`],
  ]
  return [
    '',
    'Switchhook is up.',
    ...rows.filter(([, value]) => value !== '').map(([name = '', value]) => `  ${name.padEnd(20)} ${value}`),
    '',
    'Use it from the command line, signed in as acme-admin with the password acme-admin, or as an application:',
    ...urls.apis
      .slice(0, 1)
      .flatMap((api) => [
        `  npx switchhook login ${api} --organization ${tenant}`,
        `  echo ${clientSecret} | npx switchhook login ${api} --organization ${tenant} --client-id ${clientId} --secret-stdin`,
      ]),
    '',
    'Or get a token (valid for one hour) and call the API:',
    `  TOKEN=$(curl -s ${addressesOf(urls.devIdp, tenant).tokenUrl} -d grant_type=client_credentials \\`,
    `    -d client_id=${clientId} -d client_secret=${clientSecret} -d scope=${DEV_SCOPE} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    ...urls.apis
      .slice(0, 1)
      .map((api) => `  curl -s ${api}/api/v1/webhooks/subscriptions -H "Authorization: Bearer $TOKEN"`),
  ].join('\n')
}

const withoutCredentials = (url: string): string => Object.assign(new URL(url), { username: '', password: '' }).href
