import { type ReactNode, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { faultsIn } from '../rules/form.ts'
import { useAction } from './action.tsx'
import { FaultsContext } from './fields.tsx'
import { Button, Failure, Notice } from './parts.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** Escape does not close it: what it shows, what was entered or what is about to be shown would be lost. */
  readonly staysOpen?: boolean
}

/** A modal dialog. The browser keeps the focus inside, closes it on Escape and returns the focus. */
export function Dialog({ title, onClose, staysOpen = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closed while it is still in the document; otherwise the focus is lost.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Browsers without `closedby` send a cancel event instead.
      closedby={staysOpen ? 'none' : undefined}
      onCancel={(event) => {
        if (staysOpen) event.preventDefault()
      }}
      onClose={onClose}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

interface CommandDialogProps<Result> extends Omit<DialogProps, 'staysOpen'> {
  readonly submitLabel: string
  readonly kind?: 'primary' | 'danger'
  /** The command cannot be sent yet. */
  readonly isBusy?: boolean
  readonly run: (form: FormData) => Promise<Result>
  /** The announcement of success. Absent: `onDone` shows the result, so the dialog cannot be closed before it arrives. */
  readonly done?: (result: Result) => string
  /** Absent: the dialog closes. */
  readonly onDone?: (result: Result) => void
}

/**
 * A dialog with the form of one command. Once something was entered, Escape no longer closes it. A refusal marks the fields
 * that it names and moves the focus to the first of them; other errors are shown above the buttons.
 */
export function CommandDialog<Result>({
  submitLabel,
  kind = 'primary',
  isBusy: cannotSend = false,
  run,
  done,
  onDone,
  children,
  ...dialog
}: CommandDialogProps<Result>) {
  const { error, isPending, mutate } = useAction({ run, done, onDone: onDone ?? dialog.onClose, showsErrors: true })
  const isBusy = cannotSend || isPending
  const staysOpen = done === undefined && isPending
  const form = useRef<HTMLFormElement>(null)
  const [names, setNames] = useState<readonly string[]>([])
  const [edited, setEdited] = useState<readonly string[]>([])
  const [isEdited, setIsEdited] = useState(false)
  const faults = useMemo(() => faultsIn(error), [error])
  const left = useMemo(() => new Map([...faults].filter(([name]) => !edited.includes(name))), [faults, edited])
  const areMarked = faults.size > 0 && [...faults.keys()].every((name) => names.includes(name))
  useEffect(() => {
    if (error === null) return
    const faulty = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    if (faulty) faulty.focus()
    else form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'nearest' })
  }, [error])
  return (
    <Dialog {...dialog} staysOpen={staysOpen || isEdited}>
      <form
        ref={form}
        onChange={({ target }) => {
          setIsEdited(true)
          const { name } = target as unknown as HTMLInputElement
          if (left.has(name)) setEdited([...edited, name])
        }}
        onSubmit={(event) => {
          event.preventDefault()
          setEdited([])
          setNames(Array.from(event.currentTarget.elements, (control) => control.getAttribute('name') ?? ''))
          mutate(new FormData(event.currentTarget))
        }}
      >
        <FaultsContext value={left}>{children}</FaultsContext>
        {areMarked && left.size > 0 && <Notice tone="bad">Correct the marked fields, then try again.</Notice>}
        {error !== null && !areMarked && <Failure error={error} />}
        <div className="dialog-buttons">
          <Button isBusy={staysOpen} onClick={dialog.onClose}>
            Cancel
          </Button>
          <Button kind={kind} isBusy={isBusy}>
            {submitLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
