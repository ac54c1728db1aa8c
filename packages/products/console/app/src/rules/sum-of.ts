export const sumOf = <Name extends string>(items: readonly Readonly<Record<Name, number>>[], name: Name): number =>
  items.reduce((sum, item) => sum + item[name], 0)
