import type { ApiDocument } from './build-document.ts'

/** Where the written copy of the document lies. */
export const documentPath = new URL('../../../../docs/openapi.json', import.meta.url)

export const documentText = (document: ApiDocument): string => `${JSON.stringify(document, null, 2)}\n`
