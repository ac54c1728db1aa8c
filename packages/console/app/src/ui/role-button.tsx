import type { ComponentProps } from 'react'
import type { Role } from '../api/model.ts'
import { usePerson } from '../session/person.ts'
import { Button } from './parts.tsx'

/** A button that says so if the person does not have the role that it needs. */
export const RoleButton = ({ needs, ...button }: ComponentProps<typeof Button> & { readonly needs: Role }) => {
  const { refusal } = usePerson()
  return <Button {...button} refusal={button.refusal ?? refusal(needs)} />
}
