/** An error with a code, as Node.js's own errors have one. */
export const codedError = (code: string, message: string, cause?: unknown): Error & { readonly code: string } =>
  Object.assign(new Error(message, { cause }), { code })
