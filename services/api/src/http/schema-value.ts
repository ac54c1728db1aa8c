/** The values that a schema admits, as a type: by `type`, `enum`, `anyOf`, `items`, `properties` and `required`. */
export type ValueOf<S> = S extends { readonly type: infer Types }
  ? Admitted<S, Types extends readonly unknown[] ? Types[number] : Types>
  : S extends { readonly anyOf: readonly (infer One)[] }
    ? ValueOf<One>
    : unknown

/** The query of a request to a route with these parameters. Only those with a default are always there. */
export type QueryOf<Parameters> = FieldsOf<
  Parameters,
  {
    [Name in keyof Parameters]: Parameters[Name] extends { readonly default: unknown } ? Name : never
  }[keyof Parameters]
>

type Admitted<S, Type> = Type extends 'null'
  ? null
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Type extends keyof Scalars
      ? Scalars[Type]
      : S extends { readonly items: infer Item }
        ? readonly ValueOf<Item>[]
        : S extends { readonly properties: infer Fields }
          ? FieldsOf<Fields, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
          : unknown

interface Scalars {
  readonly string: string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
}

/** A `required` that is not literal makes all fields required, as `completeObject` does. */
type FieldsOf<Fields, Required> = {
  readonly [Name in keyof Fields as Name extends Required ? Name : never]: ValueOf<Fields[Name]>
} & { readonly [Name in keyof Fields as Name extends Required ? never : Name]?: ValueOf<Fields[Name]> }
