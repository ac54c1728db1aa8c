/** Codes of Node.js for a certificate that it does not accept (Node.js documentation, "TLS: X509 certificate error codes"). */
const CODES = /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_|HOSTNAME_MISMATCH$|ERR_TLS_CERT_ALTNAME_)/

/** Whether a connection failed because the server's certificate is not accepted. Retrying helps only once it is replaced. */
export const isCertificateError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && CODES.test(String(error.code))
