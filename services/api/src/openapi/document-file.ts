/** Where the written copy of a document lies. */
export const documentPath = (name: string): URL => new URL(`../../../../docs/${name}`, import.meta.url)

export const documentText = (document: object): string => `${JSON.stringify(document, null, 2)}\n`
