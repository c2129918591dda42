const untrusted = 'was issued by an untrusted authority. Add its certificate as certificate authority'

const faults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired. Renew it',
  CERT_NOT_YET_VALID: 'is not valid yet. Check the clocks of both machines',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'names another host. Use the name in the certificate, or issue a certificate for this name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed. Add it as certificate authority',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

/** Returns the fault of a certificate by Node's error code, or undefined for other errors. */
export const certificateFault = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? faults[code] : undefined
}
