import { createHash, generateKeyPairSync } from 'node:crypto'
import ssh2, { type AuthContext, type ParsedKey } from 'ssh2'

/** Confirmed host keys of the servers of a test, by port. */
export const knownKeys = new Map<number, string>()

const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

export interface SshPeerOptions {
  /** Output of a command. */
  answer(command: string): string
  /** Identification in the banner. */
  ident?: string
  /** Delay before each response. */
  delayMs?: number
  /** Handler of sign-ins. By default, all succeed. */
  authenticate?(context: AuthContext): void
  /** Number of key exchanges after the sign-in. */
  rekeys?: number
}

/** Starts a scripted SSH server on all addresses of this machine. By default, every sign-in succeeds. */
export const startSshPeer = async ({ answer, ident, delayMs = 0, authenticate, rekeys = 0 }: SshPeerOptions) => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const commands: string[] = []
  let running = 0
  let open = 0
  let signIns = 0
  let most = 0
  const server = new ssh2.Server({ hostKeys: [privateKey], ...(ident === undefined ? {} : { ident }) }, (client) => {
    open++
    client.on('close', () => {
      open--
    })
    client.on('error', () => {})
    client.on('authentication', (context) => {
      signIns++
      if (authenticate === undefined) context.accept()
      else authenticate(context)
    })
    client.on('ready', () => {
      const exchange = (left: number): void => {
        if (left > 0) client.rekey(() => exchange(left - 1))
      }
      exchange(rekeys)
    })
    client.on('session', (accept) => {
      accept().on('exec', (take, _reject, { command }) => {
        commands.push(command)
        most = Math.max(most, ++running)
        const channel = take()
        setTimeout(() => {
          running--
          channel.write(Buffer.from(answer(command), 'latin1'))
          channel.exit(0)
          channel.end()
        }, delayMs)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as { port: number }
  const fingerprint = fingerprintOf((ssh2.utils.parseKey(privateKey) as ParsedKey).getPublicSSH())
  knownKeys.set(port, fingerprint)
  return {
    fingerprint,
    port,
    /** Received commands, in order. */
    commands,
    /** Open connections, and sign-in attempts so far. */
    open: () => open,
    signIns: () => signIns,
    /** Highest number of concurrent commands. */
    most: () => most,
    close: (): void => {
      server.close()
    },
  }
}
