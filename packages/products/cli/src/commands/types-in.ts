import type { Schemas } from '@switchhook/client'

/** The types of a list with commas. The API names those that exist if one is misspelt. */
export const typesIn = (text: string): Schemas['SubscribedType'][] =>
  text.split(',').map((type) => type.trim()) as Schemas['SubscribedType'][]
