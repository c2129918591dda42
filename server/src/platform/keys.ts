import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Secret } from './secret.ts'
import { StartError } from './start-error.ts'

/** Keys of this installation. All come from one file outside the database, so that its thief can neither sign nor read. */
export interface Keys {
  /** 32 bytes for one purpose, derived by HKDF-SHA256 from the root key. */
  derive(purpose: string): Secret<Buffer>
  /** Ed25519 pair that signs commands to agents. */
  command: { privateKey: KeyObject; publicKeyDer: Buffer }
}

interface KeyFile {
  version: 1
  root: string
  commandPrivateKey: string
}

const fresh = (): KeyFile => ({
  version: 1,
  root: randomBytes(32).toString('base64'),
  commandPrivateKey: generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'der' })
    .toString('base64'),
})

/** Reads the key file, or makes it (0600) when there is none. */
export const loadKeys = (file: string): Keys => {
  let content: KeyFile
  try {
    content = JSON.parse(readFileSync(file, 'utf8')) as KeyFile
    if (content.version !== 1 || Buffer.from(content.root, 'base64').length !== 32)
      throw new StartError(`The key file ${file} is not one of this server.`)
  } catch (error) {
    if (error instanceof StartError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartError(`The key file ${file} can not be read: ${(error as Error).message}.`)
    content = fresh()
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
      writeFileSync(`${file}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true })
      chmodSync(`${file}.new`, 0o600)
      renameSync(`${file}.new`, file)
    } catch (cause) {
      throw new StartError(`The key file ${file} can not be written: ${(cause as Error).message}.`)
    }
  }
  const root = Buffer.from(content.root, 'base64')
  const privateKey = createPrivateKey({
    key: Buffer.from(content.commandPrivateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    derive: (purpose) => new Secret(Buffer.from(hkdfSync('sha256', root, '', `portcullis ${purpose}`, 32))),
    command: { privateKey, publicKeyDer: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }) },
  }
}
