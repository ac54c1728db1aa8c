import { type Field, FieldError } from './fields.ts'

export type Fields = Readonly<Record<string, Field<unknown>>>

export type Config<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** Wrong configuration; the message lists every problem by the variable's name, and no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** A rule over several variables. Answers what is wrong, naming the variables, or undefined. */
export type Rule<F extends Fields> = (config: Config<F>) => string | undefined

/**
 * Reads the environment once. A variable that is unset or empty takes its default; variables that no field names are
 * left alone. Rules are asked only when every single variable is right.
 * @throws ConfigError
 */
export function loadConfig<F extends Fields>(
  fields: F,
  env: NodeJS.ProcessEnv,
  rules: readonly Rule<F>[] = [],
): Config<F> {
  const problems: string[] = []
  const values = Object.entries(fields).map(([name, field]) => {
    const raw = env[name] || field.fallback
    if (raw === undefined) {
      problems.push(`${name} is required`)
      return [name, undefined]
    }
    try {
      return [name, field.parse(raw)]
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      problems.push(`${name} ${error.message}`)
      return [name, undefined]
    }
  })
  const config = Object.freeze(Object.fromEntries(values)) as Config<F>
  if (problems.length === 0) problems.push(...rules.flatMap((rule) => rule(config) ?? []))
  if (problems.length > 0)
    throw new ConfigError(`invalid configuration\n${problems.map((line) => `  ${line}`).join('\n')}`)
  return config
}
