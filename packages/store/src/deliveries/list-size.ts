/** Deliveries that the lists of all subscriptions of a tenant have together: 150 MB. */
const MAX_OF_TENANT = 1_000_000

/**
 * How many deliveries the list of one subscription keeps: a tenant with many subscriptions has shorter lists.
 * @param most DELIVERY_LOG_SIZE
 */
export const listSizeOf = (most: number, subscriptions: number): number =>
  Math.max(1, Math.min(most, Math.floor(MAX_OF_TENANT / Math.max(1, subscriptions))))
