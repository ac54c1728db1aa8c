import { type ComponentProps, useEffect, useState } from 'react'
import { useFilters } from '../search-params.ts'
import { Choice, Input, Moment } from './fields.tsx'

/** The parts of a filter bar. Each reads and changes the filter of its name in the address. */

interface FilterProps {
  readonly name: string
  readonly label: string
}

/** @param options the first one, with an empty value, is the default: the address does not show it */
export function ChoiceFilter({ name, label, options }: FilterProps & Pick<ComponentProps<typeof Choice>, 'options'>) {
  const [{ [name]: value = '' }, filter] = useFilters()
  return <Choice label={label} value={value} options={options} onChange={(value) => filter({ [name]: value })} />
}

const TYPING_PAUSE_MS = 400

/** It takes effect after a pause, or on Enter. */
export function TextFilter({ name, label, placeholder }: FilterProps & { readonly placeholder?: string }) {
  const [{ [name]: value = '' }, filter] = useFilters()
  const [text, setText] = useState(value)
  const entered = text.trim()
  // A space at the end stays, because a word may follow.
  useEffect(() => setText((now) => (now.trim() === value ? now : value)), [value])
  useEffect(() => {
    if (entered === value) return undefined
    const timer = setTimeout(() => filter({ [name]: entered }), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [entered, value, name, filter])
  return (
    <Input
      label={label}
      value={text}
      placeholder={placeholder}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => event.key === 'Enter' && filter({ [name]: entered })}
    />
  )
}

export function PeriodFilters() {
  const [{ from = '', to = '' }, filter] = useFilters()
  return (
    <>
      <Moment label="From" value={from} onChange={(from) => filter({ from })} />
      <Moment label="To" value={to} onChange={(to) => filter({ to })} />
    </>
  )
}
