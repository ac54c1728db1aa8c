/** What it takes to find the called party. */
export const ROUTING_MS = 300
/** How long somebody is rung, and how long a caller has patience. */
export const RING_OUT_MS = 30_000
