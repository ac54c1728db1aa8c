import { useQuery } from '@tanstack/react-query'
import type { Subscription } from '../../api/model.ts'
import { eventTypesQuery } from '../../api/queries.ts'
import { Field } from '../../ui/fields.tsx'

/** The fields of an endpoint, for creating and editing. */
export function EndpointFields({ subscription }: { readonly subscription?: Subscription }) {
  const { data } = useQuery(eventTypesQuery)
  const chosen = subscription?.eventTypes ?? ['call.status', 'agent.status']
  return (
    <>
      <Field label="URL" hint="The address that receives each event as an HTTP POST.">
        <input
          name="url"
          type="url"
          required
          defaultValue={subscription?.url}
          placeholder="https://client.example/hooks/calls"
        />
      </Field>
      <Field label="Description" hint="A name of your choice. The console shows it instead of the URL.">
        <input name="description" maxLength={1024} defaultValue={subscription?.description ?? ''} />
      </Field>
      <Field
        label="External id"
        hint="Optional: your own name for it, unique among your endpoints. Scripts find it by this name."
      >
        <input name="externalId" maxLength={255} pattern="[!-~]+" defaultValue={subscription?.externalId ?? ''} />
      </Field>
      <fieldset>
        <legend>Event types</legend>
        {(data?.items ?? []).map(({ type, description }) => (
          <label key={type} className="check">
            <input type="checkbox" name="eventTypes" value={type} defaultChecked={chosen.some((one) => one === type)} />
            <span>
              <code>{type}</code> <span className="hint">{firstSentence(description)}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  )
}

const firstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
