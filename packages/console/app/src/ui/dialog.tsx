import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button, Failure, SubmitButton } from './parts.tsx'
import { useAction } from './use-action.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A modal dialog. The browser keeps the focus inside, closes it on Escape and returns the focus. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

interface FormDialogProps extends DialogProps {
  readonly submitLabel: string
  readonly kind?: 'primary' | 'danger'
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (form: FormData) => void
}

/** A dialog with a form. The error of the attempt is shown above the buttons. */
export function FormDialog({
  submitLabel,
  kind = 'primary',
  isBusy,
  error,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps) {
  return (
    <Dialog {...dialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) onSubmit(new FormData(event.currentTarget))
        }}
      >
        {children}
        {error !== null && error !== undefined && <Failure error={error} />}
        <div className="dialog-buttons">
          <Button onClick={dialog.onClose}>Cancel</Button>
          <SubmitButton kind={kind} isBusy={isBusy}>
            {submitLabel}
          </SubmitButton>
        </div>
      </form>
    </Dialog>
  )
}

interface CommandDialogProps<Result> extends Omit<FormDialogProps, 'isBusy' | 'error' | 'onSubmit'> {
  readonly run: (form: FormData) => Promise<Result>
  /** The announcement of success. */
  readonly done: (result: Result) => string
  /** Absent: the dialog closes. */
  readonly onDone?: () => void
}

/** A dialog for one command. */
export function CommandDialog<Result>({ run, done, onDone, ...dialog }: CommandDialogProps<Result>) {
  const command = useAction({ run, done, onDone: onDone ?? dialog.onClose, showsErrors: true })
  return (
    <FormDialog
      {...dialog}
      isBusy={command.isPending}
      error={command.error}
      onSubmit={(form) => command.mutate(form)}
    />
  )
}
