import type { UseQueryResult } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { clock, fullMoment, relative, type Tone } from '../rules/words.ts'

/** A state with a dot and a word: colour is never the only sign. */
export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={`status ${tone}`}>{children}</span>
)

export const NO_VALUE = <span className="muted">–</span>

/** A moment: `14:02:11`, with the whole date as tooltip. With `ago`, how long ago it is. */
export function Time({ at, ago = false }: { readonly at: string | null; readonly ago?: boolean }) {
  const nowMs = useNow(ago ? 1_000 : 60_000)
  if (at === null) return NO_VALUE
  return (
    <time dateTime={at} title={fullMoment(at)}>
      {ago ? relative(at, nowMs) : clock(at, nowMs)}
    </time>
  )
}

interface TimeAfterProps extends ComponentProps<typeof Time> {
  readonly words: string
  readonly end?: string
}

/** A part of a sentence with a moment; nothing if there is none. */
export const TimeAfter = ({ words, end, ...time }: TimeAfterProps) =>
  time.at !== null && (
    <>
      {words} <Time {...time} />
      {end}
    </>
  )

/** The beginning of an id, which is enough to tell rows apart. The whole id is its tooltip. */
export const ShortId = ({ value }: { readonly value: string }) => <code title={value}>{value.slice(0, 8)}</code>

/** An id that can be copied. It is never cut. */
export const Id = ({ value, label }: { readonly value: string; readonly label: string }) => (
  <span className="id">
    <code>{value}</code>
    <CopyButton text={value} label={`Copy ${label}`} />
  </span>
)

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <button type="button" className="copy" aria-label={label} title={label} onClick={() => void copy()}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isCopied ? <path d="m3 8.5 3.5 3.5L13 4.5" /> : <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z" />}
      </svg>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}

export type ButtonKind = 'plain' | 'primary' | 'danger'

interface ButtonProps {
  readonly children: ReactNode
  /** Absent: the button submits its form. */
  readonly onClick?: () => void
  readonly kind?: ButtonKind
  /** Why the button cannot be used. It stays reachable by keyboard, and the reason is read out and shown. */
  readonly refusal?: string | null | undefined
  readonly isBusy?: boolean
}

export function Button({ children, onClick, kind = 'plain', refusal, isBusy = false }: ButtonProps) {
  const id = useId()
  const isRefused = refusal != null
  return (
    <span className="button-with-reason">
      <button
        type={onClick === undefined ? 'submit' : 'button'}
        className={`button ${kind}`}
        aria-disabled={isRefused || isBusy}
        aria-describedby={isRefused ? id : undefined}
        onClick={(event) => {
          // Also keeps Enter from submitting the form. The second click of a double click would act twice.
          if (isRefused || isBusy || event.detail > 1) event.preventDefault()
          else onClick?.()
        }}
      >
        {children}
      </button>
      {isRefused && (
        <span id={id} role="tooltip" className="reason">
          {refusal}
        </span>
      )}
    </span>
  )
}

export const Notice = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <div className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
)

export const Failure = ({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) => (
  <Notice tone="bad">
    <p>{error instanceof Error ? error.message : 'Something went wrong.'}</p>
    {retry && <Button onClick={retry}>Try again</Button>}
  </Notice>
)

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children && <p>{children}</p>}
  </div>
)

export const Loading = () => (
  <div className="loading" role="status">
    Loading…
  </div>
)

export const QueryState = ({ query }: { readonly query: Pick<UseQueryResult, 'error' | 'isPending' | 'refetch'> }) => (
  <>
    {query.error !== null && <Failure error={query.error} retry={() => void query.refetch()} />}
    {query.isPending && <Loading />}
  </>
)

interface PanelProps {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The browser announces the first screen: it is a new page. */
let isFirstScreen = true

/** A screen. Its heading takes the focus if the navigation removed what had it, so that a screen reader reads it. */
export function Screen({ title, lead, actions, children }: PanelProps & { readonly lead?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Switchhook`
  }, [title])
  useEffect(() => {
    if (!isFirstScreen && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
    isFirstScreen = false
  }, [])
  return (
    <>
      <header className="screen-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div className="lead">{lead}</div>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export function Panel({ title, actions, children }: PanelProps) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

interface TileProps {
  readonly label: string
  readonly value: string
  readonly note?: string
  readonly tone?: Tone
}

export const Tile = ({ label, value, note, tone = 'quiet' }: TileProps) => (
  <div className={`tile ${tone}`}>
    <dt>{label}</dt>
    <dd>{value}</dd>
    {note && <dd className="note">{note}</dd>}
  </div>
)

/** @param rows names and values; false: a row that does not apply */
export const Facts = ({ rows }: { readonly rows: readonly (readonly [string, ReactNode] | false)[] }) => (
  <dl className="facts">
    {rows
      .filter((row) => row !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

export const Json = ({ value, label }: { readonly value: unknown; readonly label: string }) => {
  const text = JSON.stringify(value, undefined, 2)
  return (
    <div className="json">
      <CopyButton text={text} label={`Copy ${label}`} />
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  )
}

export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}
