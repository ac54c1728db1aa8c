import {
  type AriaAttributes,
  cloneElement,
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import type { Faults } from '../rules/faults.ts'

/** Those of the last attempt to send the form. */
export const FaultsContext = createContext<Faults>(new Map())

/** What a control needs to be marked as faulty and described, and the texts that it names. */
export function useDescription(name: string | undefined, hint?: ReactNode, ownFault?: string) {
  const id = useId()
  const sent = useContext(FaultsContext)
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

/** A control with its label, hint and faults. A screen reader reads all of them. */
export function Field({
  label,
  hint,
  fault,
  children,
}: {
  readonly label: string
  readonly hint?: ReactNode
  /** Found while the person types. */
  readonly fault?: string | undefined
  readonly children: ReactElement<AriaAttributes & { readonly name?: string }>
}) {
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

/** A text that was entered in a form, without spaces around it. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** null: the field is empty. */
export function numberIn(form: FormData, name: string): number | null {
  const text = textIn(form, name)
  return text === '' ? null : Number(text)
}

export const Options = ({ of }: { readonly of: readonly (readonly [value: string, label: string])[] }) =>
  of.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))

/** A choice in a filter bar. */
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly onChange: (value: string) => void
}) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <Options of={options} />
      </select>
    </Field>
  )
}

const TYPING_PAUSE_MS = 400

/** A text in a filter bar: it takes effect after a pause, or on Enter. */
export function TextFilter({
  label,
  value,
  placeholder,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly onChange: (value: string) => void
}) {
  const [text, setText] = useState(value)
  // A screen that is drawn again has another `onChange`: that must not begin the pause again.
  const change = useRef(onChange)
  useEffect(() => {
    change.current = onChange
  })
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return undefined
    const timer = setTimeout(() => change.current(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value])
  return (
    <Field label={label}>
      <input
        value={text}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && onChange(text)}
      />
    </Field>
  )
}
