import { mkdirSync } from 'node:fs'
import { VERSIONS } from './languages.ts'
import { runStep } from './run-step.ts'

const INSTALL_MINUTES = 5
const RUN_MINUTES = 8
/**
 * Random requests end by time, so that two runs send different ones: they are made on request, in seconds (`FUZZING=180`).
 * The others are the same in every run.
 */
const FUZZING_SECONDS = Number(process.env['FUZZING'] ?? 0)
const PHASES = ['examples', 'coverage', ...(FUZZING_SECONDS > 0 ? ['fuzzing'] : [])].join(',')
const MAX_SECONDS = 180 + FUZZING_SECONDS

/** The rules that a schema cannot state: requests that match it and are rejected for this reason. */
const BEYOND_SCHEMAS: readonly (readonly [operation: RegExp, code: string, fault: RegExp, reason: string])[] = [
  [/^(PATCH|DELETE|POST) .*\/subscriptions\/\{id\}/, 'precondition-failed', /^/, 'an If-Match names the present state'],
  [
    /^(PATCH|DELETE|POST) .*\/subscriptions\/\{id\}/,
    'invalid-request',
    /^If-Match must be/,
    'an If-Match is a list of tags in quotation marks',
  ],
  [/^(POST|PATCH|DELETE) /, 'idempotency-key-reused', /^/, 'a key belongs to one body'],
  [/^GET /, 'invalid-request', /^\/cursor is not a cursor of this list/, 'a cursor comes from the page before'],
  [/\/(recover|backfill)(\/preview)?$/, 'invalid-request', /^\/to must be after/, 'a window ends after it begins'],
  [/^GET .*\/statistics$/, 'invalid-request', /^\/(from|to) /, 'a window of statistics is in the past and limited'],
  [
    /\/transfer$/,
    'invalid-request',
    /^\/transferTarget must not be the agent/,
    'an agent cannot transfer a call to itself',
  ],
  [/\/outcomes$/, 'invalid-request', /^\/items\/\d+ must have exactly/, 'an outcome has a status, error or release'],
  [/^(POST|PATCH) .*\/subscriptions(\/\{id\})?$/, 'invalid-webhook-url', /^/, 'a url must be public; pull has none'],
  [
    /\/(filters\/preview|subscriptions(\/\{id\})?)$/,
    'invalid-filter',
    /^/,
    'a filter names fields and values of its event type',
  ],
  [/\/presence$/, 'unknown-status-code', /^/, 'an installation has a table of its own'],
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
      --exclude-path-regex /stream$ --suppress-health-check all --output-truncate false || test $? -eq 1`,
    folder,
    { TOKEN },
    RUN_MINUTES,
  )
  const [, cases] = /^ *(\d+) generated/m.exec(output) ?? []
  if (cases === undefined) throw new Error(output.slice(-4_000))
  const unknown = complaintsIn(output).filter(({ isKnown }) => !isKnown)
  const errors = /Runtime Error|Network Error/.test(output) ? ['Schemathesis itself failed, see below'] : []
  if (unknown.length + errors.length > 0) {
    throw new Error(
      [...errors, ...unknown.map(({ operation, block }) => `${operation}: ${block.slice(0, 1_500)}`)]
        .join('\n')
        .slice(0, 8_000),
    )
  }
  return `${cases} requests, ${complaintsIn(output).length} complaints about rules that a schema cannot state`
}

/** The last one: errors of Schemathesis itself stand under titles, too. */
const titleIn = (text: string): string | undefined => [...text.matchAll(/^_+ ([A-Z]+ \S+) _+$/gm)].at(-1)?.[1]

/** The complaints of a report, which has a title for each operation and blocks under it. */
function complaintsIn(report: string) {
  const [head = '', ...blocks] = report.split(/^\d+\. Test Case ID: /m)
  let operation = titleIn(head) ?? ''
  return blocks.flatMap((block) => {
    const under = operation
    operation = titleIn(block) ?? operation
    const complaints = block.match(/^- ST\d+ /gm) ?? ['']
    return complaints.map((title) => ({
      operation: under,
      block,
      isKnown: title === '- ST202 ' && isBeyondSchemas(under, block),
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
