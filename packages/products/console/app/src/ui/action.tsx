import { type UseMutationResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import type { Me, Role } from '../api/model.ts'
import { meQuery } from '../api/queries.ts'
import type { Tone } from '../rules/words.ts'
import { createStore, useStore } from '../store.ts'
import { Button } from './parts.tsx'

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

const SHOWN_MS = 6_000

const announcements = createStore<{ readonly text: string; readonly tone: Tone } | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

function announce(text: string, tone: Tone = 'good'): void {
  clearTimeout(timer)
  timer = setTimeout(() => announcements.set(null), SHOWN_MS)
  announcements.set({ text, tone })
}

export function Announcements() {
  const announcement = useStore(announcements)
  return (
    <div className="announcements" role="status">
      {announcement && <p className={`announcement ${announcement.tone}`}>{announcement.text}</p>}
    </div>
  )
}

/** The highest role: each includes those before it. */
export const roleOf = (me: Me | undefined): Role => me?.roles.at(-1) ?? 'viewer'

/** A button that says so if the person does not have the role that it needs. The API decides what is allowed. */
export const RoleButton = ({ needs, ...button }: ComponentProps<typeof Button> & { readonly needs: Role }) => {
  const { data: me } = useQuery(meQuery)
  const refusal = me?.roles.includes(needs) ? null : `This needs the role ${needs}. You have the role ${roleOf(me)}.`
  return <Button {...button} refusal={button.refusal ?? refusal} />
}
