import { setTimeout as sleep } from 'node:timers/promises'
import { Attribute, Change, Client } from 'ldapts'

export type LdapAdmin = Awaited<ReturnType<typeof ldapAdmin>>

/** Connects to a directory as its administrator, as soon as it answers. */
export const ldapAdmin = async (url: string, ca: string, dn: string, password: string) => {
  const connect = async (): Promise<Client> => {
    const client = new Client({
      url,
      strictDN: false,
      ...(url.startsWith('ldaps:') ? { tlsOptions: { ca: [ca] } } : {}),
      timeout: 60_000,
    })
    await client.bind(dn, password)
    return client
  }
  let client = await connect().catch(() => null)
  for (let tries = 0; client === null; tries++) {
    await sleep(200)
    client = await connect().catch((error: unknown) => {
      if (tries > 150) throw error
      return null
    })
  }
  const connected = client
  const change = (operation: 'add' | 'replace') => (entry: string, type: string, values: string[]) =>
    connected.modify(entry, new Change({ operation, modification: new Attribute({ type, values }) }))
  return {
    add: (entry: string, attributes: Record<string, string | string[] | Buffer>): Promise<void> =>
      connected.add(entry, attributes as never),
    append: change('add'),
    replace: change('replace'),
    search: (base: string, filter: string, sizeLimit: number, attributes: string[]) =>
      connected.search(base, { filter, sizeLimit, attributes }).then(({ searchEntries }) => searchEntries),
    /** Does not wait: a directory that was killed does not answer. */
    close: (): void => {
      connected.unbind().catch(() => {})
    },
  }
}
