/** Runs under Wine: seals data, then opens it unchanged, changed and for another purpose. */
import { writeFileSync } from 'node:fs'
import { createDpapi } from '../../../agent/src/platform/windows/dpapi.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createSecrets } from '../../../agent/src/platform/windows/secrets.ts'

const dpapi = createDpapi(loadKoffi())
const secrets = createSecrets(dpapi)
const message = (attempt: () => string): string => {
  try {
    return attempt()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const plain = Buffer.from('a secret of Ünicode')
const sealed = dpapi.seal(plain, 'one')
const changed = Uint8Array.from(sealed)
changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
const text = (data: Uint8Array | undefined): string | null => (data === undefined ? null : Buffer.from(data).toString())
const stored = secrets.seal('PRIVATE KEY')
writeFileSync(
  'Z:\\agent\\dpapi.json',
  JSON.stringify({
    opened: text(dpapi.unseal(sealed, 'one')),
    otherPurpose: text(dpapi.unseal(sealed, 'two')),
    changed: text(dpapi.unseal(changed, 'one')),
    cut: text(dpapi.unseal(sealed.subarray(0, 20), 'one')),
    empty: text(dpapi.unseal(new Uint8Array(), 'one')),
    contains: Buffer.from(sealed).includes(plain),
    differs: Buffer.compare(sealed, dpapi.seal(plain, 'one')) !== 0,
    stored: stored.split(':')[0],
    key: secrets.open(stored),
    changedKey: message(() => secrets.open(stored.replace(/.(.{8})$/s, 'A$1'))),
    foreignKey: message(() => secrets.open(`portcullis-dpapi-1:${Buffer.from(sealed).toString('base64')}`)),
    plainKey: message(() => secrets.open('-----BEGIN PRIVATE KEY-----')),
  }),
)
