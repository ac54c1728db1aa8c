import type { Party } from '@switchhook/platform'

/** What a called party is shown: a number, or the party at the other end. `cli` null: the default number. */
export type Shown = Party | { readonly kind: 'cli'; readonly cli: string | null }

/** A request to Asterisk. Each action can be repeated. */
export type Action =
  /** Creates the channel to a party. It is dialled once it is in our application, and an outside party once it is in the call's bridge. */
  | {
      readonly kind: 'create'
      readonly channelId: string
      readonly party: Party
      readonly shows: Shown
      readonly originator: string | null
      /** The call carries auto-answer headers. */
      readonly autoAnswer: boolean
    }
  | { readonly kind: 'dial'; readonly channelId: string }
  /** An arrived channel is marked as ours, and its events are subscribed to. */
  | { readonly kind: 'claim'; readonly channelId: string }
  | { readonly kind: 'ring' | 'answer'; readonly channelId: string }
  /** To a talking bridge, or to a holding bridge with music. */
  | { readonly kind: 'move'; readonly channelIds: readonly string[]; readonly bridge: string; readonly waits: boolean }
  /** A line's channel leaves the call's bridge, unless another call has moved it on. */
  | { readonly kind: 'leave'; readonly channelId: string; readonly bridge: string }
  /** A NOTIFY that makes the phone answer, or resume. */
  | { readonly kind: 'talk'; readonly channelId: string }
  /** How a transfer that a phone asked for has ended. Until then Asterisk tells the phone `100 Trying`. */
  | {
      readonly kind: 'transfer-progress'
      readonly channelId: string
      readonly state: 'answered' | 'declined' | 'unavailable'
    }
  | { readonly kind: 'drop'; readonly channelId: string; readonly cause: number | null; readonly elsewhere: boolean }
  | { readonly kind: 'drop-bridge'; readonly bridge: string }
