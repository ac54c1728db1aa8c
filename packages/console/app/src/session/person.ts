import { useQuery } from '@tanstack/react-query'
import type { Role } from '../api/model.ts'
import { meQuery } from '../api/queries.ts'

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }

/** The person's roles decide what is offered; the API decides what is allowed. */
export function usePerson() {
  const { data } = useQuery(meQuery)
  const roles = data?.roles ?? ['viewer']
  const role = roles.reduce<Role>((best, one) => ((RANK[one] ?? 0) > RANK[best] ? one : best), 'viewer')
  return {
    name: data?.subject ?? '',
    role,
    /** Why the person may not do something that needs a role; null if they may. */
    refusal: (needed: Role): string | null =>
      RANK[role] >= RANK[needed] ? null : `This needs the role ${needed}. You have the role ${role}.`,
  }
}
