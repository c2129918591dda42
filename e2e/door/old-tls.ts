import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:tls'
import { ensureOwnCertificate } from '../../platform/server/tls/index.ts'
import { temporaryFolder } from '../../proof/kit/database.ts'

/** Returns whether this Node supports TLS 1.1. Without it, a server's refusal proves nothing. */
export const canRefuseTls = async (): Promise<boolean> => {
  const dir = temporaryFolder('old-tls')
  const { cert, key } = await ensureOwnCertificate({
    dir,
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    now: Date.now(),
  })
  const server = createServer(
    { cert, key, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' },
    (socket) => socket.end(),
  )
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return await new Promise<boolean>((resolve) => {
      const socket = connect({
        host: '127.0.0.1',
        port,
        rejectUnauthorized: false,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'ALL@SECLEVEL=0',
      })
      socket.on('secureConnect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  } finally {
    server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
