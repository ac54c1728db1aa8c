import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/chart'
import { parse } from 'yaml'

interface ComposeService {
  readonly image: string
  readonly build?: object
  readonly profiles?: readonly string[]
  readonly ports?: readonly string[]
  readonly container_name?: string
  readonly environment?: Readonly<Record<string, string | null>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly stop_grace_period?: string
  readonly volumes?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
}

export const readCompose = (): ComposeFile =>
  parse(readFileSync(join(repository, 'docker-compose.yml'), 'utf8'), { merge: true }) as ComposeFile

/** The default in a compose value: `${NAME:-value}` becomes `value`. */
export const unset = (value: string): string => value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
