/** Calls operations that take signed files: a licence, knowledge, an agent package, the verification of a Windows build. */

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { createVerificationFile, formatReleaseKeyFile, issueLicence } from '@portcullis/domain'
import { plainHost, type ReleaseKeyPair, releaseKeyFileOf, releaseKeyPair } from '@portcullis/domain/testing'
import { agentPaths, knowledgeProofText, packageProofText, windowsSteps } from '@portcullis/features/contract.ts'
import { temporaryFolder } from '../kit/database.ts'
import { api, type Environment } from '../kit/environment.ts'
import type { Host } from '../kit/host.ts'
import { jsonOf } from '../kit/wire.ts'
import type { Caller } from './caller.ts'
import { form } from './send-body.ts'

/** Creates a release key, and the environment variable with which a server trusts it. */
export const createReleaseKey = () => {
  const key = releaseKeyPair()
  const file = join(temporaryFolder('release-key'), 'release-key.pub')
  writeFileSync(file, formatReleaseKeyFile(releaseKeyFileOf(key)))
  return { key, env: { PORTCULLIS_RELEASE_KEY_FILE: file } }
}

const signed = ({ privateKey }: Pick<ReleaseKeyPair, 'privateKey'>, text: string): string =>
  sign(null, Buffer.from(text), privateKey).toString('base64')

const callLicence = async ({ post }: Caller, { keyFile }: Environment): Promise<void> => {
  const issuer = generateKeyPairSync('ed25519')
  const pem = issuer.publicKey.export({ type: 'spki', format: 'pem' })
  writeFileSync(join(dirname(keyFile), 'server', 'licence-keys.pem'), pem)
  const licence = {
    ...{ product: 'portcullis', accountId: 'gate', accountName: 'Gate', agents: null, expires: null, graceDays: 14 },
    ...{ features: ['nac'], issued: '2026-01-01' },
  } as const
  await post('generalconfig/AddOrUpdateLICENSEConfig', {
    LICENSE_KEY: issueLicence({ ...licence, features: [...licence.features] }, issuer.privateKey),
  })
}

/** Uploads and activates knowledge, which a host then fetches, and withdraws it. */
const callKnowledge = async ({ get, post }: Caller, { wire }: Environment, host: Host): Promise<void> => {
  const key = releaseKeyPair()
  const payload = JSON.stringify({
    ...{ format: 'portcullis-knowledge-1', version: '2099.1.1', createdAt: '2026-01-01T00:00:00Z' },
    files: { attackTools: [] },
  })
  const file = { payload, publicKey: key.text, signature: signed(key, knowledgeProofText(payload)) }
  const { candidate } = await post('admin/knowledge', {
    format: 'portcullis-signed-knowledge-1',
    ...file,
    trust: key.fingerprint,
  })
  await get('admin/knowledge/preview')
  await post('admin/knowledge/apply', { id: (candidate as { id?: unknown } | undefined)?.id })
  const policy = await wire.send({
    ...{ method: 'POST', path: agentPaths.policy, token: host.token },
    body: { nonce: 'n'.repeat(24) },
  })
  const { knowledgeHash } = jsonOf(String((jsonOf(policy.text) as { payload?: unknown }).payload)) as {
    knowledgeHash?: string
  }
  await wire.send({ method: 'GET', path: `${agentPaths.knowledge}/${knowledgeHash}`, token: host.token })
  await post('admin/knowledge/rollback')
}

/** Publishes a package, which a host then fetches, and withdraws it. */
const callPackage = async (
  { get, remove }: Caller,
  { wire, admin }: Environment,
  host: Host,
  key: ReleaseKeyPair,
): Promise<void> => {
  const executable = Buffer.from('the agent')
  const sha256 = createHash('sha256').update(executable).digest('hex')
  const build = { version: '99.0.0', architecture: 'x64', sha256, size: executable.length }
  const header = {
    ...{ format: 'portcullis-agent-package', ...build, compression: 'zstd' },
    ...{ signature: signed(key, packageProofText(build)), releaseKey: key.text },
  }
  const { type, head, tail } = form('agent.pkg')
  await wire.send({
    ...{ method: 'POST', path: `${api}/agents/packages`, token: admin.token, headers: { 'content-type': type } },
    body: Buffer.concat([head, Buffer.from(`${JSON.stringify(header)}\n`), zstdCompressSync(executable), tail]),
  })
  await wire.send({ method: 'GET', path: `${agentPaths.packages}/${sha256}`, token: host.token })
  const { data } = await get('agents/packages')
  await remove(`agents/packages/${(data as { id?: unknown }[] | undefined)?.[0]?.id}`)
}

const callVerification = async ({ post, remove }: Caller, { addHost }: Environment): Promise<void> => {
  const windows = { osName: 'Windows 11 Pro', osBuild: '10.0.22631.4317', enforcement: 'before-install' } as const
  const host = await addHost('gate-windows', { facts: { ...plainHost('gate-windows'), ...windows } })
  const file = createVerificationFile(
    {
      ...{ format: 'portcullis-windows-verification-1', agentId: host.agentId, agentVersion: '1.0.0' },
      ...{ osBuild: windows.osBuild, edition: windows.osName, createdAt: new Date().toISOString() },
      checks: windowsSteps.map(({ id }) => ({ id, result: 'passed', detail: 'as expected' })),
    },
    host.sign,
  )
  const { build } = await post('windows/verifications', { file, confirmed: [] })
  await remove(`windows/verifications/${build}`)
}

/** Calls them while there is only one Administrator. Later, most of them need a second approver. */
export const callSigned = async (
  caller: Caller,
  environment: Environment,
  host: Host,
  key: ReleaseKeyPair | undefined,
): Promise<void> => {
  await callLicence(caller, environment)
  await callKnowledge(caller, environment, host)
  if (key !== undefined) await callPackage(caller, environment, host, key)
  await callVerification(caller, environment)
}
