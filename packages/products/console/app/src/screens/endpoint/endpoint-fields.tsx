import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import type { Subscription } from '../../api/model.ts'
import { eventTypesQuery } from '../../api/queries.ts'
import { headerLines, KEPT } from '../../rules/form.ts'
import { Choice, Field, Input, useDescription } from '../../ui/fields.tsx'
import { FilterField } from './filter-field.tsx'

const MODES = [
  ['post', 'Sent to a URL'],
  ['pull', 'Received by clients (pull)'],
] as const

export function EndpointFields({ subscription }: { readonly subscription?: Subscription }) {
  const stored: Partial<Subscription> = subscription ?? {}
  const [mode, setMode] = useState<string>(stored.mode ?? 'post')
  const isPull = mode === 'pull'
  return (
    <>
      {subscription === undefined && (
        <Choice
          label="Deliveries are"
          hint="This cannot be changed later."
          name="mode"
          value={mode}
          options={MODES}
          onChange={setMode}
        />
      )}
      <Part isLeftOut={isPull}>
        <Input
          label="URL"
          hint="The address that receives each event as an HTTP POST."
          name="url"
          type="url"
          required
          defaultValue={stored.url ?? ''}
          placeholder="https://client.example/hooks/calls"
        />
      </Part>
      <Input
        label="Description"
        hint="A name of your choice. The console shows it instead of the URL."
        name="description"
        maxLength={1024}
        defaultValue={stored.description ?? ''}
      />
      <Input
        label="External id"
        hint="Optional: your own name for it, without spaces, unique among your endpoints. Scripts find it by this name."
        name="externalId"
        maxLength={255}
        pattern="[!-~]+"
        title="Letters, digits and signs of ASCII, without spaces."
        defaultValue={stored.externalId ?? ''}
      />
      <Count label="Expire after" name="expireAfterSeconds" min={10} max={86_400} stored={stored}>
        Optional: seconds, 10 to 86,400. Older events are not sent, except the end of a call. Useful where old news
        harms.
      </Count>
      <Part isLeftOut={!isPull}>
        <Count label="Delete after" name="deleteAfterUnusedSeconds" min={60} max={604_800} stored={stored}>
          Optional: seconds, 60 to 604,800. It is deleted when no client has asked for its deliveries for so long.
        </Count>
      </Part>
      <Part isLeftOut={isPull}>
        <label className="check">
          <input type="checkbox" name="recoverRejected" defaultChecked={stored.recoverRejected === true} />
          <span>
            Recover rejected deliveries{' '}
            <span className="hint">What the endpoint answers with 4xx is sent again, once, after its next 2xx.</span>
          </span>
        </label>
        <Count label="In flight at most" name="maxInFlight" min={1} max={1_000} stored={stored}>
          Optional: attempts that may be in progress at a time, 1 to 1,000. Deliveries beyond it are held, then sent.
        </Count>
        <Count label="Per second at most" name="maxPerSecond" min={1} max={1_000} stored={stored}>
          Optional: attempts that may begin in any second, 1 to 1,000. Deliveries beyond it are held, then sent.
        </Count>
        <Field
          label="Headers"
          hint={`Optional: one per line, such as "Authorization: Bearer 3fQ9". Stored values are shown as ${KEPT}: leave them to keep them.`}
        >
          <textarea name="headers" rows={2} spellCheck={false} defaultValue={headerLines(stored.headers)} />
        </Field>
      </Part>
      <EventTypes chosen={stored.eventTypes ?? ['call.status', 'agent.status']} />
      <FilterField filter={stored.filter} />
    </>
  )
}

interface CountProps extends ComponentProps<'input'> {
  readonly label: string
  readonly name: 'expireAfterSeconds' | 'deleteAfterUnusedSeconds' | 'maxInFlight' | 'maxPerSecond'
  readonly stored: Partial<Subscription>
}

/** A whole number. Its children are the hint. */
const Count = ({ name, stored, children, ...input }: CountProps) => (
  <Input {...input} hint={children} name={name} type="number" defaultValue={stored[name] ?? ''} />
)

/** Fields of one mode. In the other they keep what was entered, and are neither checked nor sent. */
const Part = ({ isLeftOut, children }: { readonly isLeftOut: boolean; readonly children: ReactNode }) => (
  <fieldset className="part" disabled={isLeftOut} hidden={isLeftOut}>
    {children}
  </fieldset>
)

function EventTypes({ chosen }: { readonly chosen: readonly string[] }) {
  const { data } = useQuery(eventTypesQuery)
  const { control, texts } = useDescription('eventTypes')
  return (
    <fieldset>
      <legend>Event types</legend>
      <label className="check">
        <input type="checkbox" name="eventTypes" value="*" defaultChecked={chosen.includes('*')} {...control} />
        <span>
          <code>*</code> <span className="hint">All event types, those of later versions included.</span>
        </span>
      </label>
      {(data?.items ?? withoutTexts(chosen)).map(({ type, description }) => (
        <label key={type} className="check">
          <input type="checkbox" name="eventTypes" value={type} defaultChecked={chosen.includes(type)} />
          <span>
            <code>{type}</code> <span className="hint">{firstSentence(description)}</span>
          </span>
        </label>
      ))}
      {texts}
    </fieldset>
  )
}

/** Until the texts of the types are read, what is chosen stays chosen. */
const withoutTexts = (types: readonly string[]) =>
  types.filter((type) => type !== '*').map((type) => ({ type, description: '' }))

const firstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
