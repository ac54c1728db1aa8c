import { Field } from './fields.tsx'

/** A moment in a filter bar: entered in local time, kept in UTC. */
export function MomentFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string) => void
}) {
  return (
    <Field label={label}>
      <input
        type="datetime-local"
        value={value === undefined ? '' : localOf(value)}
        onChange={({ target }) => onChange(target.value === '' ? '' : new Date(target.value).toISOString())}
      />
    </Field>
  )
}

/** `2026-11-20T14:02` in the browser's zone. */
function localOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
