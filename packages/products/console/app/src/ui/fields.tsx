import {
  type ComponentProps,
  cloneElement,
  createContext,
  type ReactElement,
  type ReactNode,
  use,
  useEffect,
  useId,
  useRef,
} from 'react'
import type { Faults } from '../rules/form.ts'

/** Those of the last attempt to send the form. */
export const FaultsContext = createContext<Faults>(new Map())

/** What a control needs to be marked as faulty and described, and the texts that it names. */
export function useDescription(name: string | undefined, hint?: ReactNode, ownFault?: string) {
  const id = useId()
  const sent = use(FaultsContext)
  const faults = ownFault === undefined ? (sent.get(name ?? '') ?? []) : [ownFault]
  const [faultId, hintId] = [faults.length > 0 && `${id}fault`, hint !== undefined && `${id}hint`]
  return {
    control: {
      'aria-invalid': faults.length > 0 || undefined,
      'aria-describedby': [faultId, hintId].filter(Boolean).join(' ') || undefined,
    },
    texts: (
      <>
        {faultId && (
          <ul id={faultId} className="faults">
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        )}
        {hintId && (
          <span id={hintId} className="hint">
            {hint}
          </span>
        )}
      </>
    ),
  }
}

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Found while the person types. */
  readonly fault?: string | undefined
  readonly children: ReactElement<Pick<ComponentProps<'input'>, 'name' | 'aria-invalid' | 'aria-describedby'>>
}

/** A control with its label, hint and faults. A screen reader reads all of them. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const { control, texts } = useDescription(children.props.name, hint, fault)
  return (
    <div className="field">
      <label>
        <span className="field-label">{label}</span>
        {cloneElement(children, control)}
      </label>
      {texts}
    </div>
  )
}

export const Input = ({ label, hint, ...input }: Pick<FieldProps, 'label' | 'hint'> & ComponentProps<'input'>) => (
  <Field label={label} hint={hint}>
    <input {...input} />
  </Field>
)

export function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** null: the field is empty. */
export function numberIn(form: FormData, name: string): number | null {
  const text = textIn(form, name)
  return text === '' ? null : Number(text)
}

export type Option = readonly [value: string, label: string]

/** @param all the label of the empty value, which selects everything */
export const optionsOf = (all: string, values: readonly string[], labelOf = (value: string) => value): Option[] => [
  ['', all],
  ...values.map((value): Option => [value, labelOf(value)]),
]

interface ChoiceProps extends Pick<ComponentProps<'select'>, 'name' | 'value' | 'defaultValue'> {
  readonly label: string
  readonly hint?: string
  readonly options: readonly Option[]
  readonly onChange?: (value: string) => void
}

export const Choice = ({ label, hint, options, onChange, ...select }: ChoiceProps) => (
  <Field label={label} hint={hint}>
    <select {...select} onChange={({ target }) => onChange?.(target.value)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </Field>
)

interface MomentProps {
  readonly label: string
  /** ISO 8601; empty: none. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A moment: entered in local time, kept in UTC. */
export function Moment({ label, value, onChange }: MomentProps) {
  const input = useRef<HTMLInputElement>(null)
  const local = localOf(value)
  // Not while the person types: the browser forgets the digits of an unfinished year when its field is written to.
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement) input.current.value = local
  }, [local])
  const change = ({ target }: { readonly target: HTMLInputElement }): void => {
    if (target.value !== localOf(value)) onChange(target.value === '' ? '' : new Date(target.value).toISOString())
  }
  return (
    <Input
      ref={input}
      label={label}
      type="datetime-local"
      max="9999-12-31T23:59"
      // Not while a year has its first digits only.
      onChange={(event) => event.target.value.startsWith('0') || change(event)}
      onBlur={change}
    />
  )
}

/** `2026-11-20T14:02` in the browser's zone. */
function localOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
