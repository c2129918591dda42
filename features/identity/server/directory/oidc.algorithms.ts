/** Signature algorithms that this server verifies with a published key, with the key types they need. */
const keyTypes: Readonly<Record<string, string>> = {
  ...{ RS256: 'RSA', RS384: 'RSA', RS512: 'RSA', PS256: 'RSA', PS384: 'RSA', PS512: 'RSA' },
  ...{ ES256: 'EC', ES384: 'EC', ES512: 'EC', EdDSA: 'OKP', Ed25519: 'OKP' },
}

/** The algorithms to recommend. */
export const preferredAlgorithms = 'RS256 or ES256'

export const isAccepted = (alg: unknown): boolean => typeof alg === 'string' && Object.hasOwn(keyTypes, alg)

const unaccepted = ['none', 'HS256', 'HS384', 'HS512']

/** Returns whether the name is one of RFC 7518 or 8037. */
export const isKnown = (alg: unknown): alg is string => isAccepted(alg) || unaccepted.includes(String(alg))

/** Returns the key type that an algorithm needs. */
export const keyTypeOf = (alg: string): string | undefined => keyTypes[alg]
