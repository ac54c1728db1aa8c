import { readFileSync } from 'node:fs'
import { repository } from '@switchhook/test-servers'
import { STANDARD_WEBHOOKS, VERSIONS } from './languages.ts'

const page = readFileSync(`${repository}/docs/clients.md`, 'utf8')

test('docs/clients.md names the versions that are tried, and no others', () => {
  const tried = [
    ...[...page.matchAll(/openapi-generator (?=\d)/g)].map(() => `openapi-generator ${VERSIONS.openapiGenerator}`),
    `openapi-python-client ${VERSIONS.openapiPythonClient}`,
    `oapi-codegen ${VERSIONS.oapiCodegen}`,
    `openapi-typescript ${VERSIONS.openapiTypescript}`,
    `openapi-fetch ${VERSIONS.openapiFetch}`,
    `standardwebhooks:${STANDARD_WEBHOOKS.java}`,
    `libraries v${STANDARD_WEBHOOKS.go}`,
    `standardwebhooks==${STANDARD_WEBHOOKS.python}`,
    `standardwebhooks@${STANDARD_WEBHOOKS.typescript}`,
    `standardwebhooks = "${STANDARD_WEBHOOKS.rust}`,
  ]
  const named = page.match(/[\w-]+(?: = "| v|==|[ :@])\d+\.\d+\.\d+(?!\.)/g)
  expect(named?.toSorted()).toEqual(tried.toSorted())
  expect(page).toContain(`axum ${VERSIONS.axum.split('.', 2).join('.')}`)
})
