/** Client libraries like to quote the url that they could not reach, with its user and password. */
export const withoutCredentials = (text: string): string => text.replaceAll(/\/\/[^/?#\s"]*@/g, '//***@')
