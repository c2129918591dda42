import { createPublicKey, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseKeyFingerprint } from '@portcullis/domain'
import {
  type KnowledgeFileName,
  knowledgeLimits,
  knowledgeProofText,
  SignedKnowledge,
} from '@portcullis/features/contract.ts'
import { Check } from 'typebox/value'
import { CliError } from './client.ts'
import { now } from './clock.ts'
import { publicText, readSigningKey } from './signing-key.ts'

/** File names in a folder such as `knowledge/`, by member of the set. */
const fileNames: Readonly<Record<KnowledgeFileName, string>> = {
  usbIds: 'usb.ids',
  attackTools: 'attack-tools.json',
  vulnerable: 'vulnerable-peripherals.json',
  genuine: 'genuine-descriptors.json',
  supplement: 'vendor-supplement.json',
  registries: 'registries.json',
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CliError(`Cannot read ${path}: ${(error as Error).message}.`)
  }
}

/** Reads the knowledge files of a folder, limited to `only` if it is not empty. */
const readFolder = (folder: string, only: readonly string[]): Record<string, unknown> => {
  const unknown = only.filter((name) => !Object.hasOwn(fileNames, name))
  if (unknown.length > 0)
    throw new CliError(
      `--only does not accept ${unknown.join(', ')}. Use one or more of ${Object.keys(fileNames).join(', ')}.`,
    )
  const files: Record<string, unknown> = {}
  for (const [name, file] of Object.entries(fileNames)) {
    if (only.length > 0 && !only.includes(name)) continue
    const text = readIfThere(join(folder, file))
    if (text === undefined) continue
    try {
      files[name] = name === 'usbIds' ? text : (JSON.parse(text) as unknown)
    } catch {
      throw new CliError(`${join(folder, file)} is not valid JSON.`)
    }
  }
  if (Object.keys(files).length === 0)
    throw new CliError(`${folder} contains none of the files ${Object.values(fileNames).join(', ')}.`)
  return files
}

export interface SignKnowledgeOptions {
  folder: string
  only: readonly string[]
  version: string
  keyFile: string
  passphrase: string | undefined
  out: string
}

/** Packs files of a folder into a set and signs it. */
export const signKnowledge = (options: SignKnowledgeOptions) => {
  const files = readFolder(options.folder, options.only)
  const key = readSigningKey(options.keyFile, options.passphrase)
  const payload = JSON.stringify({
    format: 'portcullis-knowledge-1',
    version: options.version,
    createdAt: now().toISOString(),
    files,
  })
  const publicKey = publicText(createPublicKey(key))
  const signed = {
    format: 'portcullis-signed-knowledge-1',
    payload,
    publicKey,
    signature: sign(null, Buffer.from(knowledgeProofText(payload)), key).toString('base64'),
  }
  if (!Check(SignedKnowledge, signed))
    throw new CliError(`The set has ${payload.length} characters. The limit is ${knowledgeLimits.payload}.`)
  try {
    writeFileSync(options.out, `${JSON.stringify(signed)}\n`)
  } catch (error) {
    throw new CliError(`Cannot write ${options.out}: ${(error as Error).message}.`)
  }
  return { version: options.version, files: Object.keys(files), fingerprint: releaseKeyFingerprint(publicKey) }
}

/** Reads a signed set from a file. */
export const readSignedKnowledge = (file: string): SignedKnowledge => {
  const text = readIfThere(file)
  if (text === undefined) throw new CliError(`${file} does not exist.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (!Check(SignedKnowledge, value)) throw new CliError(`${file} is not a signed knowledge file.`)
  return value
}
