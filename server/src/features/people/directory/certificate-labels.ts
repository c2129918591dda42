const untrusted = 'comes from an authority that is not trusted: put that into the certificate authority'

const words: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired: renew it there',
  CERT_NOT_YET_VALID: 'is not valid yet: check the clocks of both machines',
  ERR_TLS_CERT_ALTNAME_INVALID: 'names another host: use the name it was issued for, or issue it for this name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself: put it into the certificate authority',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

/** What is wrong with a certificate, by the code of Node; undefined when it is something else. */
export const certificateFault = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? words[code] : undefined
}
