import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from './announce.tsx'

/** A command of the person. After it, the screen is read again. With `showsErrors`, its errors are not announced. */
export function useAction<Input, Result>(options: {
  readonly run: (input: Input) => Promise<Result>
  /** The announcement of success; empty: none. */
  readonly done?: ((result: Result, input: Input) => string) | undefined
  readonly onDone?: (result: Result, input: Input) => void
  readonly showsErrors?: boolean
}): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: options.run,
    onSuccess: (result, input) => {
      const text = options.done?.(result, input)
      if (text) announce(text)
      options.onDone?.(result, input)
      return queries.invalidateQueries()
    },
    onError: (error) => {
      if (options.showsErrors !== true) announce(error.message, 'bad')
    },
  })
}
