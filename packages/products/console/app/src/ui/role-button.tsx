import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import type { Me, Role } from '../api/model.ts'
import { meQuery } from '../api/queries.ts'
import { Button } from './parts.tsx'

/** The highest role: each includes those before it. */
export const roleOf = (me: Me | undefined): Role => me?.roles.at(-1) ?? 'viewer'

/** A button that says so if the person does not have the role that it needs. The API decides what is allowed. */
export const RoleButton = ({ needs, ...button }: ComponentProps<typeof Button> & { readonly needs: Role }) => {
  const { data: me } = useQuery(meQuery)
  const refusal = me?.roles.includes(needs) ? null : `This needs the role ${needs}. You have the role ${roleOf(me)}.`
  return <Button {...button} refusal={button.refusal ?? refusal} />
}
