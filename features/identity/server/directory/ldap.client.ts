import { Client, type Entry, type Filter } from 'ldapts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, LdapFault, resultCode, resultOf } from './ldap.fault.ts'
import { LdapFrames } from './ldap.frames.ts'
import { type BindRefusal, refusalOf } from './ldap.refusals.ts'
import { type LdapSocket, openLdapSocket } from './ldap.socket.ts'

/** Time limit of one operation in milliseconds. The directory gets it in seconds. */
const operationMs = 8_000
const pageSize = 500

/** Attributes with binary values. */
const binary = ['objectGUID', 'objectSid', 'tokenGroups']

/** A connection to a directory. The caller must `close` it. */
export interface LdapConnection {
  readonly socket: LdapSocket
  /** Binds as the account that searches for people. */
  bindAsService(): Promise<void>
  /**
   * Returns null if the password is correct for the DN, or why not. Refuses empty ones, which directories treat as
   * anonymous binds.
   */
  bindAs(dn: string, password: string): Promise<BindRefusal | null>
  /** Returns entries below a base, read in pages, at most `most`. Ignores references to other servers. */
  search(base: string, filter: Filter, attributes: readonly string[], most: number): Promise<Entry[]>
  /** Returns one entry. Returns undefined if it does not exist or does not match the filter. */
  entry(dn: string, filter: Filter | null, attributes: readonly string[]): Promise<Entry | undefined>
  close(): void
}

const openedPassword = (config: LdapConfig): string => {
  try {
    return config.bindPassword()?.reveal() ?? ''
  } catch (error) {
    throw new LdapFault('bindPassword', 'The stored bind password cannot be decrypted. Enter it again.', error)
  }
}

const nothingGiven: BindRefusal = { cause: 'password', why: 'the name or the password is wrong', isGuess: true }

const serviceRefused = (bindDn: string, { why, isGuess }: BindRefusal): string => {
  if (bindDn === '') return 'The directory does not allow anonymous searches. Set a bind DN and its password.'
  if (!isGuess) return `The directory refused the bind account: ${why}.`
  return /[=@\\]/.test(bindDn)
    ? 'The directory refused the bind account. Check its DN and password.'
    : 'The directory refused the bind account. A bare name is rarely accepted: enter a DN, name@domain or DOMAIN\\name, and check the password.'
}

/** Creates an LDAP client on an open connection. */
export const connectionOn = (config: LdapConfig, socket: LdapSocket): LdapConnection => {
  const frames = new LdapFrames(socket.socket)
  frames.on('error', () => {})
  const client = new Client({
    url: 'ldap://connected',
    timeout: operationMs,
    strictDN: false,
    createConnection: (() => frames) as never,
  })
  const limits = { timeLimit: operationMs / 1000, derefAliases: 'never' as const }

  return {
    socket,
    bindAsService: async () => {
      const password = openedPassword(config)
      if (config.bindDn !== '' && password === '')
        throw new LdapFault('bindPassword', 'The bind account has no password. Set one.')
      try {
        await client.bind(config.bindDn, config.bindDn === '' ? '' : password)
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal !== null) throw new LdapFault('bindRefused', serviceRefused(config.bindDn, refusal), error)
        throw faultOf(error)
      }
    },
    bindAs: async (dn, password) => {
      if (dn === '' || password === '') return nothingGiven
      try {
        await client.bind(dn, password)
        return null
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal !== null) return refusal
        throw faultOf(error)
      }
    },
    search: async (base, filter, attributes, most) => {
      const found: Entry[] = []
      const size = Math.min(pageSize, most)
      // Samba ignores size limits, but not the size of a page.
      const pages = client.searchPaginated(base, {
        ...limits,
        scope: 'sub',
        filter,
        attributes: [...attributes],
        explicitBufferAttributes: binary,
        ...(most > pageSize ? {} : { sizeLimit: most }),
        paged: { pageSize: size },
      })
      try {
        for await (const { searchEntries } of pages) {
          found.push(...searchEntries)
          if (found.length >= most) break
        }
      } catch (error) {
        throw faultOf(error)
      }
      return found.slice(0, most)
    },
    entry: async (dn, filter, attributes) => {
      try {
        const { searchEntries } = await client.search(dn, {
          ...limits,
          scope: 'base',
          ...(filter === null ? {} : { filter }),
          attributes: [...attributes],
          explicitBufferAttributes: binary,
          sizeLimit: 1,
        })
        return searchEntries[0]
      } catch (error) {
        if (resultOf(error) === resultCode.noSuchObject) return undefined
        throw faultOf(error)
      }
    },
    close: () => {
      client.unbind().catch(() => {})
      frames.destroy()
    },
  }
}

/** Connects to the first configured directory that answers. If none does, throws the first fault. */
export const openLdap = async (config: LdapConfig, signal: AbortSignal): Promise<LdapConnection> => {
  let first: LdapFault | null = null
  for (const url of config.urls) {
    if (signal.aborted) break
    try {
      return connectionOn(config, await openLdapSocket({ ...config, url, signal }))
    } catch (error) {
      first ??= faultOf(error)
    }
  }
  throw first ?? new LdapFault('noConnection', 'No address of a directory is configured.')
}
