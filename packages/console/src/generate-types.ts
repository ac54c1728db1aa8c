import openapiTypescript, { astToString } from 'openapi-typescript'

/**
 * TypeScript types of the API document. openapi-typescript needs TypeScript 5 (its issue 2841), so this package has its
 * own.
 */
export async function generateTypes(document: string): Promise<string> {
  const types = astToString(await openapiTypescript(document, { alphabetize: false }))
  // Descriptions double the size of the file; the document has them.
  const withoutComments = types.replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
  return `// Written by make docs from docs/openapi.json.\n${withoutComments}`
}
