import { createHash } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSIONS } from './languages.ts'

/** Of the jar on Maven Central. */
const GENERATOR_SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae'

/** Downloads openapi-generator into `tools` if it is not there. @throws Error if the download fails or has other bytes */
export async function fetchGenerator(tools: string): Promise<void> {
  const jar = join(tools, 'openapi-generator-cli.jar')
  const named = `${jar}.${VERSIONS.openapiGenerator}`
  if (existsSync(named)) return
  const path = `org/openapitools/openapi-generator-cli/${VERSIONS.openapiGenerator}/openapi-generator-cli-${VERSIONS.openapiGenerator}.jar`
  const answer = await fetch(`https://repo1.maven.org/maven2/${path}`)
  if (!answer.ok) throw new Error(`the generator cannot be downloaded: ${answer.status}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  const digest = createHash('sha256').update(bytes).digest('hex')
  if (digest !== GENERATOR_SHA256) throw new Error(`the generator that was downloaded has another SHA-256: ${digest}`)
  writeFileSync(`${jar}.part`, bytes)
  renameSync(`${jar}.part`, jar)
  writeFileSync(named, '')
}
