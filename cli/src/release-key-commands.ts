import { dirname, join } from 'node:path'
import { newestReleaseKey, releaseKeyFingerprint } from '@portcullis/domain'
import type { ReleaseKeyFile } from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import { CliError, type Terminal } from './client.ts'
import { now } from './clock.ts'
import { configuredFile, keyOfBuild, makeReleaseKey, readReleaseKeyFile, rotateReleaseKey } from './release-key-file.ts'
import { passphraseOf } from './signing-key.ts'

const keepSafe = (file: string): string => `Keep ${file} and a copy of it offline and off the server.`

/** Returns a warning for an unencrypted release key, which lets its readers run a program on every host. */
const notEncrypted = (file: string, passphrase: string | undefined): string[] =>
  passphrase === undefined
    ? [
        `WARNING: ${file} is not encrypted. Anyone who can read it can sign programs for every host. Create it with --passphrase-file.`,
      ]
    : []

const nextSteps = (publicFile: string): string =>
  [
    'Next:',
    `  1. Copy ${publicFile} to the server. Set PORTCULLIS_RELEASE_KEY_FILE to its path, or put it in the checkout as release-key.pub.`,
    '  2. Restart the server. It builds its agent with the key.',
  ].join('\n')

const chainOf = ({ releaseKey, rotations }: ReleaseKeyFile): string[] => [
  `0  ${releaseKeyFingerprint(releaseKey)}`,
  ...rotations.map((one) => `${one.sequence}  ${releaseKeyFingerprint(one.releaseKey)}  since ${one.rotatedAt}`),
]

/** The keys that `release-key show` compares. */
interface Configured {
  file: ReleaseKeyFile | null
  path: string
  /** Key in the agent build: null for a build without a key, undefined without a build. */
  held: ReleaseKeyFile | null | undefined
}

const fingerprintOf = (file: ReleaseKeyFile): string => releaseKeyFingerprint(newestReleaseKey(file).releaseKey)

/** Returns the lines that say which release key is in use and whether the agent build contains it. */
export const keyInUse = ({ file, path, held }: Configured): string[] => {
  const inBuild = held ? fingerprintOf(held) : null
  // Without a file, the server uses the key in its agent build, as in an installed release.
  const used = file ?? held ?? null
  const fingerprint = used === null ? null : fingerprintOf(used)
  return [
    ...(used === null
      ? ['No release key is configured. Run `portcullis release-key new`, or set PORTCULLIS_RELEASE_KEY_FILE.']
      : [
          `release key ${fingerprint}`,
          file === null ? 'configured in no file: the server uses the key in its agent build' : `configured in ${path}`,
          ...chainOf(used).map((line) => `  ${line}`),
        ]),
    held === undefined
      ? 'agent build: does not exist yet'
      : inBuild === null
        ? 'agent build: contains no release key, so its hosts refuse updates'
        : inBuild === fingerprint
          ? 'agent build: contains this key'
          : `agent build: contains another key, ${inBuild}. Restart the server, or run npm run build.`,
  ]
}

const showKey = (show: Terminal['show'], given: string | undefined): void => {
  const { path, isNamed } = given === undefined ? configuredFile() : { path: given, isNamed: true }
  const held = keyOfBuild()
  let file: ReleaseKeyFile | null = null
  try {
    file = readReleaseKeyFile(path)
  } catch (error) {
    // The file in the checkout is optional.
    if (isNamed || !/ENOENT/.test((error as Error).message)) throw error
  }
  const fingerprint = file === null ? null : fingerprintOf(file)
  const agentBuild = held ? fingerprintOf(held) : null
  show({ fingerprint, file: file === null ? null : path, agentBuild }, () => keyInUse({ file, path, held }).join('\n'))
}

/** Commands for the key that signs agent builds. They run on the build machine and need no server. */
export const registerReleaseKeyCommands = (program: Command, { show }: Pick<Terminal, 'show'>): void => {
  const keys = program.command('release-key').description('the key that signs agent builds; runs on the build machine')

  keys
    .command('new')
    .description('creates a release key: a private file and a public file')
    .requiredOption('--out <path>', 'file for the private key; only its owner can read it')
    .option('--public <path>', 'file for the public key (default: release-key.pub next to the private key)')
    .option('--passphrase-file <path>', 'file with a passphrase that encrypts the private key')
    .action((options: OptionValues) => {
      const publicFile = options.public ?? join(dirname(options.out), 'release-key.pub')
      const passphrase = passphraseOf(options)
      const fingerprint = makeReleaseKey(options.out, publicFile, passphrase)
      show({ fingerprint, privateKey: options.out, publicKey: publicFile }, () =>
        [
          `release key ${fingerprint}`,
          `private key ${options.out}`,
          `public key  ${publicFile}`,
          '',
          ...notEncrypted(options.out, passphrase),
          keepSafe(options.out),
          nextSteps(publicFile),
        ].join('\n'),
      )
    })

  keys
    .command('show [file]')
    .description('prints the fingerprint of the release key, its rotations, and where it is configured')
    .action((file: string | undefined) => showKey(show, file))

  keys
    .command('rotate')
    .description('creates the next release key, signed by the current one')
    .requiredOption('--key <path>', 'private key in use')
    .requiredOption('--out <path>', 'file for the new private key')
    .option('--public <path>', 'public file to extend (default: release-key.pub next to the private key in use)')
    .option('--passphrase-file <path>', 'file with the passphrase of the key in use')
    .option('--new-passphrase-file <path>', 'file with a passphrase that encrypts the new key')
    .action((options: OptionValues) => {
      const publicFile = options.public ?? join(dirname(options.key), 'release-key.pub')
      const newPassphrase = passphraseOf({ passphraseFile: options.newPassphraseFile })
      const rotated = rotateReleaseKey({
        key: options.key,
        passphrase: passphraseOf(options),
        out: options.out,
        newPassphrase,
        publicFile,
        now: now(),
      })
      show({ ...rotated, privateKey: options.out, publicKey: publicFile }, () =>
        [
          `release key ${rotated.fingerprint} (rotation ${rotated.sequence})`,
          `replaces    ${rotated.previous}`,
          '',
          ...notEncrypted(options.out, newPassphrase),
          keepSafe(options.out),
          `Sign builds with ${options.out} from now on. Hosts accept the new key with their next update.`,
          nextSteps(publicFile),
        ].join('\n'),
      )
    })
}

/** Refuses the former option --trust, which pinned a key over the network. */
export const refuseTrust = (trust: unknown): void => {
  if (trust !== undefined)
    throw new CliError(
      'A release key cannot be set over the network, so --trust is no longer accepted. Run `portcullis release-key show` on the server to see where the key is configured.',
    )
}
