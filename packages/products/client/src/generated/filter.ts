// Written by make docs from docs/openapi.json and packages/contracts.
type FilterScalar = string | number | boolean

/** What a field may be. The words are those of EventBridge patterns. */
export type FilterCondition =
  | FilterScalar
  | null
  | { readonly prefix: string }
  | { readonly suffix: string }
  | { readonly 'anything-but': FilterScalar | readonly FilterScalar[] }
  | { readonly exists: boolean }
  /** One or two comparisons, such as `['>', 0, '<=', 60]`. */
  | { readonly numeric: readonly (string | number)[] }
