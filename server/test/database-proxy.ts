import { connect, createServer, type Socket } from 'node:net'
import { inject } from 'vitest'

/** Starts a proxy to the test database that can be cut or hang, as networks and disks do. */
export const createDatabaseProxy = async () => {
  const { host, port } = inject('postgres')
  const pairs = new Set<{ client: Socket; server: Socket }>()
  let mode: 'open' | 'cut' | 'hung' = 'open'
  const proxy = createServer((client) => {
    client.on('error', () => client.destroy())
    if (mode === 'cut') {
      client.destroy()
      return
    }
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port })
    const pair = { client, server }
    pairs.add(pair)
    const end = () => {
      client.destroy()
      server.destroy()
      pairs.delete(pair)
    }
    for (const socket of [client, server]) {
      socket.on('error', end)
      socket.on('close', end)
    }
    client.pipe(server)
    server.pipe(client)
    if (mode === 'hung') hang(pair)
  })
  const hang = ({ client, server }: { client: Socket; server: Socket }) => {
    client.unpipe(server).pause()
    server.unpipe(client).pause()
  }
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    through: { host: '127.0.0.1', port: (proxy.address() as { port: number }).port },
    /** Ends every connection and refuses new ones. */
    cut: () => {
      mode = 'cut'
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
    /** Stops all traffic in both directions. Connections stay open. */
    hang: () => {
      mode = 'hung'
      pairs.forEach(hang)
    },
    heal: () => {
      // A second pipe would send every byte twice.
      const wasHung = mode === 'hung'
      mode = 'open'
      if (!wasHung) return
      for (const { client, server } of pairs) {
        client.pipe(server)
        server.pipe(client)
      }
    },
    close: () => {
      for (const { client } of pairs) client.destroy()
      proxy.close()
    },
  }
}
