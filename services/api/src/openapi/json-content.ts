import type { Schema } from '../http/route.ts'

/** A body. @param example undefined: it has none */
export const jsonContent = (schema: Schema, example: unknown): Schema => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

/** A parameter or header says itself what it means, not its schema. */
export const describedBy = ({ description, ...schema }: Schema): Schema => ({ description, schema })
