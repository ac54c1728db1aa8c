import type { FilterPreview, SubscriptionFilter } from '../api/model.ts'
import { count, counted } from './words.ts'

/** Null: no filter was entered. The service says what is wrong with a filter that is JSON. */
export function readFilter(text: string): { readonly filter?: SubscriptionFilter | null; readonly fault?: string } {
  if (text.trim() === '') return { filter: null }
  try {
    return { filter: JSON.parse(text) as SubscriptionFilter | null }
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : ''}` }
  }
}

export const filterText = (filter: SubscriptionFilter | null | undefined): string =>
  filter == null ? '' : JSON.stringify(filter, null, 2)

export function previewSentence({ looked, matched }: FilterPreview): string {
  if (looked === 0) return 'The journal has no event of these types yet.'
  return `${count(matched)} of the latest ${counted(looked, 'event')} would be delivered.`
}
