import { useQuery } from '@tanstack/react-query'
import type { Role } from '../api/model.ts'
import { meQuery } from '../api/queries.ts'

/** The person's roles decide what is offered; the API decides what is allowed. */
export function usePerson() {
  const { data } = useQuery(meQuery)
  // The least first; a role includes those before it.
  const roles = data?.roles ?? []
  const role = roles.at(-1) ?? 'viewer'
  return {
    name: data?.subject ?? '',
    role,
    /** Why the person may not do something that needs a role; null if they may. */
    refusal: (needed: Role): string | null =>
      roles.includes(needed) ? null : `This needs the role ${needed}. You have the role ${role}.`,
  }
}
