import { type Static, Type } from 'typebox'
import { agentLimits } from './agent-protocol.ts'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Architectures agents are built for, as Node names them. */
export const packageArchitectures = ['x64', 'arm64'] as const

/** Bounds of a package file: one line of JSON (`PackageHeader`), a line feed, the executable as one zstd stream. */
export const packageFileLimits = {
  /** Bytes of the first line; it has some 600. */
  headerBytes: 4096,
  /** Bytes of the whole file. An executable of 109 MB becomes 34 MB. */
  fileBytes: 128 * 1024 * 1024,
  /** log2 of the bytes that a decompressor has to keep: 8 MiB. */
  windowLog: 23,
} as const

const sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })
const version = Type.String({
  pattern:
    '^(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})(-[0-9A-Za-z-]{1,20}(\\.[0-9A-Za-z-]{1,20}){0,4})?$',
  maxLength: 64,
  description: 'Version of the agent: semantic, without build metadata.',
})
const size = Type.Integer({ minimum: 1, maximum: agentLimits.packageBytes, description: 'Bytes of the executable.' })

/** First line of a package file: what the release key signed, and the signature. */
export const PackageHeader = closed({
  format: Type.Literal('portcullis-agent-package'),
  version,
  architecture: Type.Enum(packageArchitectures),
  sha256: sha256('Of the executable, hex.'),
  size,
  compression: Type.Literal('zstd'),
  signature: Type.String({
    pattern: '^[A-Za-z0-9+/]{86}==$',
    description: 'Base64 Ed25519 signature over `packageProofText(...)` by the release key.',
  }),
  releaseKey: Type.String({
    pattern: '^[A-Za-z0-9+/]{59}=$',
    description: 'Base64 SPKI DER of the Ed25519 release key.',
  }),
})
export type PackageHeader = Static<typeof PackageHeader>

/** A published agent build. */
export const AgentPackage = closed({
  id: Type.String(),
  version,
  architecture: Type.Enum(packageArchitectures),
  sha256: sha256('Of the executable, hex.'),
  size,
  state: Type.Enum(['Published', 'Withdrawn'], { description: 'A withdrawn build is no longer handed out.' }),
  isNewest: Type.Boolean({ description: 'What an update brings agents of this architecture to.' }),
  publishedAt: utcTime('When it was published.'),
  publishedBy: Type.String(),
})
export type AgentPackage = Static<typeof AgentPackage>

/** The key whose signature makes a build ours. Pinned by the first one published, on the server and by each agent. */
export const ReleaseKey = closed({
  fingerprint: sha256('Of the SPKI DER, hex.'),
  pinnedAt: utcTime('When it was pinned.'),
  pinnedBy: Type.String(),
})
export type ReleaseKey = Static<typeof ReleaseKey>

const path = '/prime/webui/agents/packages'

const packageExample = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  version: '1.4.0',
  architecture: 'x64',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  size: 109_120_320,
  state: 'Published',
  isNewest: true,
  publishedAt: '2031-05-04T10:11:12.345Z',
  publishedBy: 'admin',
} as const

export const listPackages = operation({
  id: 'listPackages',
  method: 'GET',
  path,
  tag: 'Agents',
  summary: 'Lists published agent builds, newest version first',
  permission: 'fleet:read',
  response: closed({
    releaseKey: nullable(ReleaseKey, { description: '`null`: none is pinned yet.' }),
    data: Type.Array(AgentPackage),
  }),
  examples: { response: { releaseKey: null, data: [packageExample] } },
})

export const publishPackage = operation({
  id: 'publishPackage',
  method: 'POST',
  path,
  tag: 'Agents',
  summary: 'Publishes a signed agent build',
  description:
    'One part named `file`, as `portcullis package sign` writes it, at most 128 MiB. Signature, digest, size and version are checked before anything is stored. The first one needs `trust`, the fingerprint of its release key, which is pinned from then on. Publishing the same build again changes nothing.',
  permission: 'packages:manage',
  query: closed({
    trust: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Fa-f]{64}$',
        description: 'SHA-256 (hex) of the release key that is to be trusted; needed once.',
      }),
    ),
  }),
  upload: true,
  uploadLimit: packageFileLimits.fileBytes,
  response: AgentPackage,
  errors: [
    'payload_too_large',
    'package_key_unknown',
    'package_key_refused',
    'package_signature_wrong',
    'package_damaged',
    'package_not_newer',
    'package_version_taken',
  ],
  examples: { response: packageExample },
})

export const withdrawPackage = operation({
  id: 'withdrawPackage',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'Agents',
  summary: 'Withdraws an agent build; agents that run it keep it',
  permission: 'packages:manage',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: AgentPackage,
  examples: { response: { ...packageExample, state: 'Withdrawn', isNewest: false } },
})
