export type Fate = 'not-executed' | 'unknown'

/** `process`: this process has run out of sockets, ports or memory, or is stopping. */
type Dependency = 'redis' | 'rabbitmq' | 'process'

/** Something that we depend on is unavailable. A later attempt may succeed. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly dependency: Dependency
  /**
   * Of the command or publish that failed. `not-executed`: it was refused or not sent. `unknown`: the reply is missing.
   * Other commands of the same operation may have been executed.
   */
  readonly fate: Fate

  constructor(
    dependency: Dependency,
    message: string,
    { fate = 'unknown', ...options }: ErrorOptions & { readonly fate?: Fate } = {},
  ) {
    super(message, options)
    this.dependency = dependency
    this.fate = fate
  }
}

/** Whether the error proves that the operation was not executed. */
export const isNotExecuted = (error: unknown): boolean => error instanceof Unavailable && error.fate === 'not-executed'
