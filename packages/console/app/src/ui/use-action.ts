import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from './announce.tsx'

/**
 * A command of the person. After it, everything on the screen is read again. Errors are announced, unless the place of the
 * action shows them itself.
 */
export function useAction<Input, Result>(options: {
  readonly run: (input: Input) => Promise<Result>
  /** The announcement of success. */
  readonly done?: ((result: Result, input: Input) => string) | undefined
  readonly onDone?: (result: Result, input: Input) => void
  readonly showsErrors?: boolean
}): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: options.run,
    onSuccess: (result, input) => {
      if (options.done) announce(options.done(result, input))
      options.onDone?.(result, input)
      return queries.invalidateQueries()
    },
    onError: (error) => {
      if (options.showsErrors !== true) announce(error.message, 'bad')
    },
  })
}
