import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { mustExist } from '@portcullis/domain'
import { type CommandKeys, createCommandKeys } from './command-keys.ts'
import { createKeyFile, type KeyFile, type KeyFileAccess, openKeyFile, type RuleSeal } from './key-file.ts'
import { Secret } from './secret.ts'
import { StartError } from './start-error.ts'

/** Keys of this installation. All derive from one file outside the database, so that a stolen database reveals none. */
export interface Keys {
  /** Derives 32 bytes for one purpose from the root key by HKDF-SHA256. */
  derive(purpose: string): Secret<Buffer>
  /** Ed25519 pairs that sign commands to agents. */
  command: CommandKeys
  /** Ed25519 pair that signs only checkpoints of the audit trail. */
  audit: { privateKey: KeyObject; publicKey: KeyObject }
  /** Keys that seal secrets at rest. */
  sealing: SealingKeys
  /** Records the seal of the set of rules where a database writer cannot change it. */
  ruleSeal: {
    /** Returns undefined if the file records nothing. */
    read(): RuleSeal | undefined
    write(state: RuleSeal): void
  }
}

export interface SealingKey {
  /** 0: derived from the root key; later ones come from rotations. */
  id: number
  key: Secret<Buffer>
}

/** The newest key seals; older ones open secrets until all are sealed again. */
export interface SealingKeys {
  current(): SealingKey
  /** Returns undefined for an unknown key. Reads the file again first, because another replica may have added it. */
  byId(id: number): Secret<Buffer> | undefined
  /** Creates a key and writes the file; from now on it seals. */
  add(): SealingKey
  /** Removes the keys before this one from the file. */
  forgetBefore(id: number): void
}

const fresh = (): KeyFile => ({
  version: 1,
  root: randomBytes(32).toString('base64'),
  commandPrivateKey: generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'der' })
    .toString('base64'),
})

const rotationsOf = ({ commandKeys = [] }: KeyFile): number => commandKeys.at(-1)?.number ?? 0

/**
 * Compares a key file to another: of the same server, of the same server before a rotation of its command key, or of
 * another server. Sealing keys may differ after their own rotation.
 */
export const compareKeyFiles = (one: string, other: string): 'same' | 'older' | 'foreign' => {
  try {
    const a = JSON.parse(one) as KeyFile
    const b = JSON.parse(other) as KeyFile
    if (a.root !== b.root) return 'foreign'
    if (rotationsOf(a) < rotationsOf(b)) return 'older'
    return rotationsOf(a) > rotationsOf(b) || a.commandPrivateKey === b.commandPrivateKey ? 'same' : 'foreign'
  } catch {
    return 'foreign'
  }
}

const createSealingKeys = (file: KeyFileAccess, derived: Secret<Buffer>): SealingKeys => {
  let known: readonly SealingKey[] = []
  function load({ sealing = [] }: KeyFile): void {
    known = [
      // Dropped once only newer keys exist.
      ...(sealing.some(({ id }) => id === 0) || sealing.length === 0 ? [{ id: 0, key: derived }] : []),
      ...sealing
        .filter(({ id }) => id !== 0)
        .map(({ id, key }) => ({ id, key: new Secret(Buffer.from(key, 'base64')) })),
    ]
  }
  let seen = ''
  function refresh(): void {
    seen = file.state()
    load(file.read())
  }
  refresh()
  /**
   * Returns the newest key of the file: another replica may have just rotated, and secrets sealed with an old key are
   * lost.
   */
  function current(): SealingKey {
    if (file.state() !== seen) refresh()
    return mustExist(known.at(-1), 'the sealing key')
  }
  return {
    current,
    byId: (id) => {
      const found = (): Secret<Buffer> | undefined => known.find((one) => one.id === id)?.key
      if (found() === undefined) refresh()
      return found()
    },
    add: () => {
      file.change(({ sealing = [{ id: 0, key: '' }], ...content }) => ({
        ...content,
        sealing: [...sealing, { id: (sealing.at(-1)?.id ?? 0) + 1, key: randomBytes(32).toString('base64') }],
      }))
      return current()
    },
    forgetBefore: (id) => {
      file.change(({ sealing = [], ...content }) => ({ ...content, sealing: sealing.filter((one) => one.id >= id) }))
      refresh()
    },
  }
}

/**
 * PKCS #8 header of an Ed25519 key before its 32 bytes (RFC 8410). The derived key needs no entry in files and backups.
 */
const ed25519Seed = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Reads the key file, or creates it (0600) if it is missing. */
export const loadKeys = (file: string): Keys => {
  let content: KeyFile
  try {
    content = JSON.parse(readFileSync(file, 'utf8')) as KeyFile
    if (content.version !== 1 || Buffer.from(content.root, 'base64').length !== 32)
      throw new StartError(`The key file ${file} has an unknown format. Restore the server's own key file.`)
  } catch (error) {
    if (error instanceof StartError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartError(
        error instanceof SyntaxError
          ? `The key file ${file} is damaged. Restore it from its copy.`
          : `Cannot read the key file ${file}: ${(error as Error).message}.`,
      )
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
      content = createKeyFile(file, fresh())
    } catch (cause) {
      throw new StartError(`Cannot write the key file ${file}: ${(cause as Error).message}.`)
    }
  }
  const root = Buffer.from(content.root, 'base64')
  const opened = openKeyFile(file)
  const derive = (purpose: string): Secret<Buffer> =>
    new Secret(Buffer.from(hkdfSync('sha256', root, '', `portcullis ${purpose}`, 32)))
  const auditKey = createPrivateKey({
    key: Buffer.concat([ed25519Seed, derive('audit checkpoints').reveal()]),
    format: 'der',
    type: 'pkcs8',
  })
  return {
    derive,
    audit: { privateKey: auditKey, publicKey: createPublicKey(auditKey) },
    sealing: createSealingKeys(opened, derive('sealing')),
    command: createCommandKeys(opened),
    ruleSeal: {
      read: () => opened.read().ruleSeal,
      write: (ruleSeal) => opened.change((before) => ({ ...before, ruleSeal })),
    },
  }
}
