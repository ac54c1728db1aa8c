import { mkdirSync } from 'node:fs'
import { VERSIONS } from './languages.ts'
import { runStep } from './run-step.ts'

const INSTALL_MINUTES = 5
const RUN_MINUTES = 9
/** Random requests end by time: they are made on request, in seconds (`FUZZING=180`). */
const FUZZING_SECONDS = Number(process.env['FUZZING'] ?? 0)
const PHASES = ['examples', 'coverage', ...(FUZZING_SECONDS > 0 ? ['fuzzing'] : []), 'stateful'].join(',')
/** The stateful phase ends by time, too: it sends sequences of requests with what earlier answers named. */
const MAX_SECONDS = 180 + FUZZING_SECONDS

/** `receive` waits up to 25 s for a delivery. */
const MAX_ANSWER_SECONDS = 35

/** ST202: a request that matches the schema is rejected. ST201: one that does not is rejected with an unexpected code. */
const ABOUT_REJECTIONS = ['- ST201 ', '- ST202 ']

/** The rules that a schema cannot state: requests that match it and are rejected for this reason. */
const BEYOND_SCHEMAS: readonly (readonly [operation: RegExp, code: string, fault: RegExp, reason: string])[] = [
  [/^(PATCH|DELETE|POST) .*\/subscriptions\/[^/]+/, 'precondition-failed', /^/, 'an If-Match names the present state'],
  [
    /^(PATCH|DELETE|POST) .*\/subscriptions\/[^/]+/,
    'invalid-request',
    /^If-Match must be/,
    'an If-Match is a list of tags in quotation marks',
  ],
  [/^(POST|PATCH|DELETE) /, 'idempotency-key-reused', /^/, 'a key belongs to one body'],
  [/^GET /, 'invalid-request', /^\/cursor is not a cursor of this list/, 'a cursor comes from the page before'],
  [
    /^GET |\/(recover|backfill)(\/preview)?$/,
    'invalid-request',
    /^\/to must be after/,
    'a window ends after it begins',
  ],
  [/^GET .*\/statistics$/, 'invalid-request', /^\/(from|to) /, 'a window of statistics is in the past and limited'],
  [/\/(dial|transfer)$/, 'invalid-request', /^\/\w+ must not be the agent/, 'an agent cannot call itself'],
  [/\/(dial|transfer)$/, 'invalid-request', /^\/\w+ must be the URI of an agent/, 'a destination can be called'],
  [/\/dial$/, 'invalid-request', /^\/cli must be a number/, 'a number can be presented'],
  [/\/outcomes$/, 'invalid-request', /^\/items\/\d+ must have exactly/, 'an outcome has a status, error or release'],
  [/\/outcomes$/, 'invalid-request', /^\/items\/\d+\/deliveryId is in the list twice/, 'a delivery has one outcome'],
  [/\/outcomes$/, 'body-too-large', /^/, 'a body has a size, too'],
  [/^(POST|PATCH) .*\/subscriptions(\/[^/]+)?$/, 'invalid-webhook-url', /^/, 'a url must be public; pull has none'],
  [
    /^(POST|PATCH) .*\/subscriptions(\/[^/]+)?$/,
    'invalid-request',
    /^\/\w+ (is not allowed in pull mode|is only for pull subscriptions|cannot be changed: the subscription was)/,
    'some fields belong to one mode, which stays as it is',
  ],
  [
    /^(POST|PATCH) .*\/subscriptions(\/[^/]+)?$/,
    'invalid-request',
    /^\/headers/,
    'a header has a name and a value of HTTP',
  ],
  [
    /\/(filters\/preview|subscriptions(\/[^/]+)?)$/,
    'invalid-filter',
    /^/,
    'a filter names fields and values of its event type',
  ],
  [/\/presence$/, 'unknown-status-code', /^/, 'an installation has a table of its own'],
  [/\/presence$/, 'invalid-request', /^\/until must /, 'a presence ends in the future'],
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
      --phases ${PHASES} --max-examples 3 --max-time ${MAX_SECONDS} --seed 1 --request-timeout 60 --no-color \
      --max-response-time ${MAX_ANSWER_SECONDS} --exclude-path-regex /stream$ \
      --suppress-health-check all --output-truncate false || test $? -eq 1`,
    folder,
    { TOKEN },
    RUN_MINUTES,
  )
  const [, cases] = /^ *(\d+) generated/m.exec(output) ?? []
  if (cases === undefined) throw new Error(output.slice(-4_000))
  const complaints = complaintsIn(output, API)
  const unknown = complaints.filter(({ isKnown }) => !isKnown)
  const errors = /Runtime Error|Network Error/.test(output) ? ['Schemathesis itself failed, see below'] : []
  if (unknown.length + errors.length > 0) {
    throw new Error(
      [...errors, ...unknown.map(({ operation, block }) => `${operation}: ${block.slice(0, 1_500)}`)]
        .join('\n')
        .slice(0, 8_000),
    )
  }
  return `${cases} requests, ${complaints.length} complaints about rules that a schema cannot state`
}

/** The complaints of a report, in blocks with the requests that led to an answer. */
function complaintsIn(report: string, api: string) {
  const [, ...blocks] = report.split(/^\d+\. Test Case ID: /m)
  const request = new RegExp(`^ +curl -X ([A-Z]+) .*${api}([^\\s'?]*)`, 'gm')
  return blocks.flatMap((block) => {
    const [, method = '', path = ''] = [...block.matchAll(request)].at(-1) ?? []
    const operation = `${method} ${path}`
    const titles = block.match(/^- ST\d+ /gm) ?? ['']
    return titles.map((title) => ({
      operation,
      block,
      isKnown: ABOUT_REJECTIONS.includes(title) && isBeyondSchemas(operation, block),
    }))
  })
}

function isBeyondSchemas(operation: string, block: string): boolean {
  const [, code = ''] = /problems#([\w-]+)/.exec(block) ?? []
  const faults = [...block.matchAll(/"pointer":"(.*?)","detail":"(.*?)"/g)].map(
    ([, pointer, detail]) => `${pointer} ${detail}`,
  )
  const [, detail = ''] = /"detail":"(.*?)"/.exec(block) ?? []
  return (faults.length > 0 ? faults : [detail]).every((fault) =>
    BEYOND_SCHEMAS.some(
      ([operations, known, pattern]) => operations.test(operation) && known === code && pattern.test(fault),
    ),
  )
}
