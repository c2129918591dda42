import { Client, type Entry, type Filter } from 'ldapts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, LdapFault, resultCode, resultOf } from './ldap.fault.ts'
import { LdapFrames } from './ldap.frames.ts'
import { type LdapSocket, openLdapSocket } from './ldap.socket.ts'

/** Time limit of one operation in milliseconds. The directory gets it in seconds. */
const operationMs = 8_000
const pageSize = 500

/** Result codes of a bind that mean a wrong password or a refused account. */
const refusals: ReadonlySet<number> = new Set([
  resultCode.invalidCredentials,
  resultCode.noSuchObject,
  resultCode.inappropriateAuthentication,
  resultCode.insufficientAccessRights,
  resultCode.unwillingToPerform,
  resultCode.constraintViolation,
])

/** A connection to a directory. The caller must `close` it. */
export interface LdapConnection {
  readonly socket: LdapSocket
  /** Binds as the account that searches for people. */
  bindAsService(): Promise<void>
  /**
   * Returns whether the password is correct for the DN. Refuses empty ones, which directories treat as anonymous binds.
   */
  bindAs(dn: string, password: string): Promise<boolean>
  /** Returns entries below a base, at most `most`. Ignores references to other servers. */
  search(base: string, filter: Filter, attributes: readonly string[], most: number): Promise<Entry[]>
  /** Returns entries below a base, read in pages, at most `most`. */
  searchAll(base: string, filter: Filter, attributes: readonly string[], most: number): Promise<Entry[]>
  /** Returns one entry. Returns undefined if it does not exist or does not match the filter. */
  entry(dn: string, filter: Filter | null, attributes: readonly string[]): Promise<Entry | undefined>
  close(): void
}

const openedPassword = (config: LdapConfig): string => {
  try {
    return config.bindPassword()?.reveal() ?? ''
  } catch (error) {
    throw new LdapFault('bindRefused', 'The stored bind password cannot be decrypted. Enter it again.', error)
  }
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
  async function withFaults<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw faultOf(error)
    }
  }

  return {
    socket,
    bindAsService: async () => {
      const password = openedPassword(config)
      if (config.bindDn !== '' && password === '')
        throw new LdapFault('bindRefused', 'The bind account has no password. Set one.')
      try {
        await client.bind(config.bindDn, config.bindDn === '' ? '' : password)
      } catch (error) {
        if (refusals.has(resultOf(error) ?? -1))
          throw new LdapFault(
            'bindRefused',
            config.bindDn === ''
              ? 'The directory does not allow anonymous searches. Set a bind DN and its password.'
              : 'The directory refused the bind account. Check its DN and password.',
            error,
          )
        throw faultOf(error)
      }
    },
    bindAs: async (dn, password) => {
      if (dn === '' || password === '') return false
      try {
        await client.bind(dn, password)
        return true
      } catch (error) {
        if (refusals.has(resultOf(error) ?? -1)) return false
        throw faultOf(error)
      }
    },
    search: async (base, filter, attributes, most) =>
      (
        await withFaults(
          client.search(base, {
            ...limits,
            scope: 'sub',
            filter,
            attributes: [...attributes],
            explicitBufferAttributes: ['objectGUID'],
            sizeLimit: most,
          }),
        )
      ).searchEntries,
    searchAll: async (base, filter, attributes, most) => {
      const found: Entry[] = []
      const pages = client.searchPaginated(base, {
        ...limits,
        scope: 'sub',
        filter,
        attributes: [...attributes],
        paged: { pageSize },
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
          explicitBufferAttributes: ['objectGUID'],
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
