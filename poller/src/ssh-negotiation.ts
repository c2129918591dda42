/** What the worker offers to an SSH server: algorithms, and methods to sign in. */
import type { AuthenticationType, ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2'

/** Algorithms of host keys by the type in the key, the preferred first. A host may have a key of each type. */
export const hostKeyTypes: readonly { type: RegExp; algorithms: readonly ServerHostKeyAlgorithm[] }[] = [
  { type: /^ssh-ed25519$/, algorithms: ['ssh-ed25519'] },
  { type: /^ecdsa-/, algorithms: ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'] },
  { type: /^ssh-rsa$/, algorithms: ['rsa-sha2-512', 'rsa-sha2-256'] },
]

/** Algorithms that are secure in 2026. A server without any of them gets its own failure. */
export const algorithms: NonNullable<ConnectConfig['algorithms']> = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  // The last one is safe only with strict key exchange (CVE-2023-48795), so it is for servers that have no other.
  cipher: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'aes128-ctr',
    'aes192-ctr',
    'aes256-ctr',
    'chacha20-poly1305@openssh.com',
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}

/** Names of the parts of a key exchange in messages of the library, for people. */
const algorithmKinds: readonly [RegExp, string][] = [
  [/key exchange/i, 'key exchange'],
  [/host key/i, 'host key'],
  [/cipher/i, 'cipher'],
  [/MAC/, 'MAC'],
]

/** Collects what both sides offer, which the library only writes to its debug log. */
export const createOffers = () => {
  const last = { local: '', remote: '' }
  const cutList = (list: string, length: number): string => (list.length <= length ? list : `${list.slice(0, length)}…`)
  return {
    note: (line: string): void => {
      const [, side, list = ''] = /^Handshake: \((local|remote)\) [^:]+: (.*)$/.exec(line) ?? []
      if (side === 'local' || side === 'remote') last[side] = list
    },
    /** Returns the message of a failed key exchange with the kind of algorithm that differs; any other message unchanged. */
    explain: (message: string): string => {
      const kind = /no matching/i.test(message)
        ? algorithmKinds.find(([pattern]) => pattern.test(message))?.[1]
        : undefined
      if (kind === undefined) return message
      return `${kind}: the host offers ${cutList(last.remote, 220)}; the worker offers ${cutList(last.local, 220)}`
    },
  }
}

/**
 * Returns a function that chooses the next sign-in method. It sends the password once: many servers count each attempt
 * towards a lockout. The password comes last, because a host could reuse it elsewhere. A private key reveals nothing.
 */
export const createMethods = (hasKey: boolean, hasPassword: boolean) => {
  const tried: AuthenticationType[] = []
  let refusals = 0
  return {
    refusals: (): number => refusals,
    next: (left: readonly AuthenticationType[] | null, isPartial: boolean | null): AuthenticationType | false => {
      if (left !== null && !isPartial && tried.at(-1) !== 'none') refusals++
      const method = ((): AuthenticationType | undefined => {
        if (left === null) return hasKey ? 'publickey' : 'none'
        const isSent = tried.includes('password') || tried.includes('keyboard-interactive')
        if (!hasPassword || (isSent && !isPartial)) return undefined
        return (['password', 'keyboard-interactive'] as const).find((one) => left.includes(one) && !tried.includes(one))
      })()
      if (method !== undefined) tried.push(method)
      return method ?? false
    },
  }
}
