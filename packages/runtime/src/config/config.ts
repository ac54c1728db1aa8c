import { type Field, FieldError } from './fields.ts'

export type Fields = Readonly<Record<string, Field<unknown>>>

export type Config<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** Wrong configuration. The message lists every problem by the name of the variable, without its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** A rule about several variables. Returns the problem, with the names of the variables, or undefined. */
export type Rule<F extends Fields> = (config: Config<F>) => string | undefined

/**
 * Reads the configuration from the environment. Unset and empty variables get their defaults; variables without a field are
 * ignored. Rules are checked only if every single variable is valid.
 * @throws ConfigError
 */
export function loadConfig<F extends Fields>(fields: F, env: NodeJS.ProcessEnv, rules: readonly Rule<F>[] = []) {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const raw = env[name] || field.fallback
    try {
      if (raw === undefined) throw new FieldError('is required')
      values[name] = field.parse(raw)
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      problems.push(`${name} ${error.message}`)
    }
  }
  const config = Object.freeze(values) as Config<F>
  if (problems.length === 0) problems.push(...rules.flatMap((rule) => rule(config) ?? []))
  if (problems.length > 0)
    throw new ConfigError(`invalid configuration\n${problems.map((line) => `  ${line}`).join('\n')}`)
  return config
}
