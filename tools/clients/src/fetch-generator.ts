import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSIONS } from './languages.ts'
import { runStep } from './run-step.ts'

/** Of the jar on Maven Central. */
const GENERATOR_SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae'
const MINUTES = 5

/** Fetches openapi-generator with Maven into `tools`, as a command, if it is not there. @throws Error if that fails or the jar has other bytes */
export async function fetchGenerator(tools: string): Promise<void> {
  const jar = join(tools, 'openapi-generator-cli.jar')
  writeFileSync(join(tools, 'openapi-generator-cli'), `#!/bin/sh\nexec java -jar '${jar}' "$@"\n`, { mode: 0o755 })
  const named = `${jar}.${VERSIONS.openapiGenerator}`
  if (existsSync(named)) return
  const artifact = `org.openapitools:openapi-generator-cli:${VERSIONS.openapiGenerator}`
  const copy = `mvn -q -B dependency:copy -Dartifact=${artifact} -DoutputDirectory=. -Dmdep.stripVersion=true`
  await runStep(copy, tools, {}, MINUTES)
  const digest = createHash('sha256').update(readFileSync(jar)).digest('hex')
  if (digest !== GENERATOR_SHA256) {
    rmSync(jar)
    throw new Error(`the generator that was fetched has another SHA-256: ${digest}`)
  }
  writeFileSync(named, '')
}
