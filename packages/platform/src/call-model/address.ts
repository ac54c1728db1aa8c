/** An extension or an E.164 number, with or without the `tel:` scheme (RFC 3966) and visual separators. */
const NUMBER = /^(?:tel:)?(\+?[0-9][0-9().\- ]*)$/i

/** The digits of a number, with its leading plus if it has one; null for any other address. */
export const numberOf = (address: string): string | null =>
  NUMBER.exec(address)?.[1]?.replaceAll(/[().\- ]/g, '') ?? null

/** Compares numbers by their digits, and other addresses literally. */
export const isSameAddress = (one: string, other: string): boolean => canonical(one) === canonical(other)

const canonical = (address: string): string => numberOf(address.trim()) ?? address.trim()
