import { mkdirSync } from 'node:fs'
import { VERSIONS } from './languages.ts'
import { runStep } from './run-step.ts'

const INSTALL_MINUTES = 5
const RUN_MINUTES = 8
/** The examples and the limits of every schema take most of it; random requests get the rest. */
const SECONDS = 180

/** The rules that a schema cannot state: requests that match it and are rejected for this reason. */
const BEYOND_SCHEMAS: readonly (readonly [code: string, fault: RegExp, reason: string])[] = [
  ['precondition-failed', /^/, 'an If-Match must name the present state'],
  ['invalid-request', /^If-Match must be/, 'an If-Match is a list of tags in quotation marks'],
  ['idempotency-key-reused', /^/, 'a key belongs to one body'],
  ['invalid-request', /^\/cursor /, 'a cursor comes from the page before'],
  ['invalid-request', /^\/to must be after/, 'a window ends after it begins'],
  ['invalid-request', /^\/(from|to|since) /, 'a window of statistics has a limited number of steps'],
  [
    'invalid-request',
    /^\/(headers|eventTypes|mode|deleteAfterUnusedSeconds|externalId)/,
    'fields of a subscription fit together',
  ],
  ['invalid-request', /^\/transferTarget must not/, 'an agent cannot transfer a call to itself'],
  ['invalid-request', /^\/items/, 'an outcome has a status, an error or a release'],
  ['invalid-request', /^\/until /, 'a presence ends in the future'],
  ['invalid-request', /^\/\w+ is not a known field/, 'the fields that only the service sets are not described'],
  ['invalid-webhook-url', /^/, 'a url must be public, and https in production'],
  ['invalid-filter', /^/, 'a filter names fields and values of its event type'],
  ['unknown-event-type', /^/, 'the types are known'],
  ['unknown-status-code', /^/, 'an installation has a table of its own'],
  ['missing-agent-uri', /^/, 'an empty agentUri counts as missing'],
]

/** Sends generated requests, valid and invalid, and applies every check of Schemathesis to the answers. @throws Error with the complaints that are not on the list */
export async function runSchemathesis(
  folder: string,
  document: string,
  { API = '', TOKEN = '' }: Readonly<Record<string, string>>,
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  await runStep(
    `test -x venv/bin/python || python3 -m venv venv; venv/bin/pip install -q schemathesis==${VERSIONS.schemathesis}`,
    folder,
    {},
    INSTALL_MINUTES,
  )
  // A stream never ends. Exit code 1: there are complaints.
  const output = await runStep(
    `venv/bin/schemathesis run "${document}" --url "${API}" -H "Authorization: Bearer $TOKEN" --checks all \
      --phases examples,coverage,fuzzing --max-examples 3 --max-time ${SECONDS} --seed 1 --request-timeout 60 --no-color \
      --exclude-path-regex /stream$ --suppress-health-check all --output-truncate false || test $? -eq 1`,
    folder,
    { TOKEN },
    RUN_MINUTES,
  )
  const [, cases] = /^ *(\d+) generated/m.exec(output) ?? []
  if (cases === undefined) throw new Error(output.slice(-4_000))
  const blocks = output.split(/^\d+\. Test Case ID: /m).slice(1)
  const complaints = blocks.flatMap((block) => block.match(/^- ST\d+ .*$/gm)?.map((title) => ({ title, block })) ?? [])
  const unknown = complaints.filter(({ title, block }) => !title.startsWith('- ST202 ') || !isBeyondSchemas(block))
  const errors = /Runtime Error|Network Error/.test(output) ? ['Schemathesis itself failed, see below'] : []
  if (unknown.length + errors.length > 0) {
    throw new Error([...errors, ...unknown.map(({ block }) => block.slice(0, 1_500))].join('\n').slice(0, 8_000))
  }
  return `${cases} requests, ${complaints.length} complaints about rules that a schema cannot state`
}

function isBeyondSchemas(block: string): boolean {
  const [, code = ''] = /problems#([\w-]+)/.exec(block) ?? []
  const faults = [...block.matchAll(/"pointer":"(.*?)","detail":"(.*?)"/g)].map(
    ([, pointer, detail]) => `${pointer} ${detail}`,
  )
  const [, detail = ''] = /"detail":"(.*?)"/.exec(block) ?? []
  return (faults.length > 0 ? faults : [detail]).every((fault) =>
    BEYOND_SCHEMAS.some(([known, pattern]) => known === code && pattern.test(fault)),
  )
}
