import { mkdirSync } from 'node:fs'
import { VERSIONS } from './languages.ts'
import { runStep } from './run-step.ts'

const MINUTES = 6

export async function runSchemathesis(
  folder: string,
  document: string,
  { API, TOKEN_URL }: NodeJS.ProcessEnv,
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  await runStep(
    `test -x venv/bin/python || python3 -m venv venv; venv/bin/pip install -q schemathesis==${VERSIONS.schemathesis}`,
    folder,
    {},
    MINUTES,
  )
  const output = await runStep(`venv/bin/schemathesis run "${document}" --url "${API}"`, folder, { TOKEN_URL }, MINUTES)
  return output
}
