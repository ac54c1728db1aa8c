import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { meQuery, summaryQuery } from './api/queries.ts'
import { useFreshness } from './live/freshness.ts'
import { sumOf } from './rules/statistics.ts'
import { count } from './rules/words.ts'
import { signOut } from './session/session.ts'
import { Announcements, roleOf } from './ui/action.tsx'
import { textIn } from './ui/fields.tsx'
import { Facts, Notice, Status, Time } from './ui/parts.tsx'

export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <button
          type="button"
          className="menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <Link to="/" className="brand">
          Switchhook
        </Link>
        <SearchBox />
        <FreshnessSign />
        <PersonMenu />
      </header>
      <nav id="navigation" className={isMenuOpen ? 'open' : ''} aria-label="Screens" onClick={() => setMenuOpen(false)}>
        <Navigation />
      </nav>
      <main id="main" tabIndex={-1}>
        <AwayNotice />
        <Outlet />
      </main>
      <Announcements />
    </>
  )
}

const SCREENS = [
  ['/', 'Overview'],
  ['/endpoints', 'Endpoints'],
  ['/events', 'Events'],
  ['/deliveries', 'Deliveries'],
  ['/parked', 'Parked'],
  ['/recoveries', 'Recoveries'],
  ['/live', 'Live'],
  ['/agents', 'Agents'],
  ['/simulator', 'Simulator'],
  ['/audit', 'Audit'],
] as const

const FIRST_OF_GROUP: readonly string[] = ['/live', '/audit']

function Navigation() {
  const { data: me } = useQuery(meQuery)
  const { data: parked = 0 } = useQuery({ ...summaryQuery, select: ({ items }) => sumOf(items, 'parked') })
  return (
    <ul>
      {SCREENS.filter(([to]) => to !== '/simulator' || me?.features.simulator === true).map(([to, label]) => (
        <li key={to} className={FIRST_OF_GROUP.includes(to) ? 'gap' : undefined}>
          <Link to={to} activeOptions={{ exact: to === '/' }}>
            {label}
            {to === '/parked' && parked > 0 && <span className="badge">{count(parked)}</span>}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function SearchBox() {
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  // `/` or Ctrl+K puts the cursor into the search box.
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      const isShortcut = event.key === '/' ? !isTyping : event.key === 'k' && (event.ctrlKey || event.metaKey)
      if (!isShortcut || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      input.current?.select()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [])
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const q = textIn(new FormData(event.currentTarget), 'q')
        // The screen of events shows what was searched for, and lets it be changed.
        event.currentTarget.reset()
        if (q !== '') void navigate({ to: '/events', search: { q } })
      }}
    >
      <input
        ref={input}
        name="q"
        type="search"
        aria-label="Find an event by any id, SIP URI, phone number or correlation id"
        aria-keyshortcuts="/"
        placeholder="Any id, SIP URI, phone number, correlation id"
        autoComplete="off"
        spellCheck={false}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}

const SIGNS = {
  connecting: ['quiet', 'Connecting'],
  live: ['good', 'Live'],
  polling: ['quiet', 'Every 15 s'],
  away: ['bad', 'Stale'],
} as const

function FreshnessSign() {
  const [tone, label] = SIGNS[useFreshness().state]
  return (
    <span className="freshness" role="status">
      <Status tone={tone}>{label}</Status>
    </span>
  )
}

function AwayNotice() {
  const { state, answeredAtMs } = useFreshness()
  if (state !== 'away') return null
  return (
    <Notice tone="bad">
      The API does not answer. This page shows what was true at <Time at={new Date(answeredAtMs).toISOString()} />. It
      updates as soon as the API is back.
    </Notice>
  )
}

function PersonMenu() {
  const { data: me } = useQuery(meQuery)
  return (
    <>
      <button type="button" className="person" popoverTarget="person-menu">
        {me?.subject || 'Account'}
      </button>
      <div id="person-menu" popover="auto">
        <Facts
          rows={[
            ['Tenant', me && (me.tenant ?? 'The installation')],
            ['Role', roleOf(me)],
          ]}
        />
        <button type="button" className="button plain" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </>
  )
}
