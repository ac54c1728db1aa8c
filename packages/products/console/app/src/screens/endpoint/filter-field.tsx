import { useRef, useState } from 'react'
import { client } from '../../api/client.ts'
import type { FilterPreview, SubscribedType, Subscription, SubscriptionFilter } from '../../api/model.ts'
import { filterText, previewSentence, readFilter } from '../../rules/form.ts'
import { useAction } from '../../ui/action.tsx'
import { Field } from '../../ui/fields.tsx'
import { Button, Failure, Notice } from '../../ui/parts.tsx'

const EXAMPLE = '{"call.status": {"state": [3, 7], "agentUri": [{"prefix": "sip:sales-"}]}}'

export function FilterField({ filter }: { readonly filter: Subscription['filter'] | undefined }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => filterText(filter))
  const preview = useAction({
    run: (wanted: SubscriptionFilter) => {
      const form = area.current?.form
      const eventTypes = (form ? new FormData(form).getAll('eventTypes') : []) as SubscribedType[]
      return client.filters.preview({ filter: wanted, ...(eventTypes.length > 0 && { eventTypes }) })
    },
    showsErrors: true,
  })
  const { filter: entered, fault } = readFilter(text)
  return (
    <div>
      <Field
        label="Filter"
        hint="Optional, JSON: which events of a type are delivered, by fields of their data."
        fault={fault}
      >
        <textarea
          ref={area}
          name="filter"
          rows={4}
          spellCheck={false}
          value={text}
          placeholder={EXAMPLE}
          onChange={({ target }) => {
            setText(target.value)
            // The browser then refuses to send the form.
            target.setCustomValidity(readFilter(target.value).fault ?? '')
            preview.reset()
          }}
        />
      </Field>
      {entered != null && (
        <Button isBusy={preview.isPending} onClick={() => preview.mutate(entered)}>
          Try it on past events
        </Button>
      )}
      {preview.error !== null && <Failure error={preview.error} />}
      <div role="status">{preview.data && <Result preview={preview.data} />}</div>
    </div>
  )
}

function Result({ preview }: { readonly preview: FilterPreview }) {
  const refused = preview.examples.filter(({ refusal }) => refusal !== null)
  return (
    <>
      <p>{previewSentence(preview)}</p>
      {refused.length > 0 && (
        <ul className="hint">
          {refused.map(({ eventId, eventType, refusal }) => (
            <li key={eventId}>
              <code>{eventType}</code> is not: {refusal}.
            </li>
          ))}
        </ul>
      )}
      <Warnings warnings={preview.warnings} />
    </>
  )
}

/** What is valid and probably not meant. */
export const Warnings = ({ warnings }: Pick<Subscription, 'warnings'>) =>
  warnings.map(({ detail }) => (
    <Notice key={detail} tone="warn">
      {detail}
    </Notice>
  ))
