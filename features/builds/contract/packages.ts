import { agentLimits } from '@portcullis/contract/agent-protocol.ts'
import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/**
 * Architectures of agent builds. Linux builds are executables, named as in Node.js. A Windows build is the script
 * of the agent, which the Node of the installed MSI runs. The release key signs the architecture, so no build can be
 * installed on another system.
 */
export const packageArchitectures = ['x64', 'arm64', 'windows-x64'] as const
export type PackageArchitecture = (typeof packageArchitectures)[number]
/** Architectures that agents report. A host can report any other text. */
export const hostArchitectures = [...packageArchitectures, 'macos-x64', 'macos-arm64'] as const

/** The architecture of a build in a request or response. */
export const PackageArchitecture = Type.Enum(packageArchitectures, {
  description:
    'Architecture of the hosts that install the build: `x64` or `arm64` on Linux, or `windows-x64`. The facts of hosts use the same names.',
})

/** Limits of a package file: a line of JSON (`PackageHeader`), a line feed, and the executable as a zstd stream. */
export const packageFileLimits = {
  /** Maximum bytes of the first line. It usually has about 600. */
  headerBytes: 4096,
  /** Maximum bytes of the file. An executable of 109 MB compresses to 34 MB. */
  fileBytes: 128 * 1024 * 1024,
  /** Window of the decompressor as log2 of its bytes: 8 MiB. */
  windowLog: 23,
} as const

const sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })
const version = Type.String({
  pattern:
    '^(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})(-[0-9A-Za-z-]{1,20}(\\.[0-9A-Za-z-]{1,20}){0,4})?$',
  maxLength: 64,
  description: 'Semantic version of the agent, without build metadata.',
})
const size = Type.Integer({
  minimum: 1,
  maximum: agentLimits.packageBytes,
  description: 'Size of the executable or script in bytes.',
})

/** First line of a package file: the signed fields and the signature. */
export const PackageHeader = closed({
  format: Type.Literal('portcullis-agent-package'),
  version,
  architecture: PackageArchitecture,
  sha256: sha256('SHA-256 (hex) of the executable or script.'),
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

/** States of an uploaded build. */
export const packageStates = ['Published', 'Pending', 'Untrusted', 'Withdrawn'] as const

/** An uploaded agent build. */
export const AgentPackage = closed({
  id: Type.String(),
  version,
  architecture: PackageArchitecture,
  sha256: sha256('SHA-256 (hex) of the executable or script.'),
  size,
  state: Type.Enum(packageStates, {
    description:
      'Hosts get only `Published` builds. `Pending`: waits for a second approver. `Untrusted`: not signed with the release key of this server.',
  }),
  releaseKey: sha256('Fingerprint (hex) of the release key that signed the build.'),
  isNewest: Type.Boolean({ description: 'True if updates of this architecture install this build.' }),
  publishedAt: utcTime('Time of the publication.'),
  publishedBy: Type.String(),
})
export type AgentPackage = Static<typeof AgentPackage>

/** The release key, which the server reads at start. No request can change it. */
export const ReleaseKey = closed({
  fingerprint: sha256('SHA-256 (hex) of the SPKI DER.'),
  source: Type.Enum(['file', 'build'], {
    description:
      '`file`: from the file that PORTCULLIS_RELEASE_KEY_FILE names. `build`: from the agent build of this server.',
  }),
  isInBuild: Type.Boolean({
    description:
      'True if the agent build of this server contains this key. Otherwise, newly installed agents refuse updates.',
  }),
  sequence: Type.Integer({ minimum: 0, description: 'Sequence number of the rotation. 0 for the first key.' }),
  rotatedAt: nullable(Type.String({ format: 'date-time' }), {
    description: 'Time of the rotation. `null` for the first key.',
  }),
  earlier: Type.Array(sha256('Fingerprint (hex).'), {
    description:
      'Previous release keys, newest first. Hosts that still trust one of them follow the rotations with their next update.',
  }),
})
export type ReleaseKey = Static<typeof ReleaseKey>

/** States of the release key of a host, compared with the release key of this server. */
export const hostKeyStates = ['Current', 'Earlier', 'Foreign', 'None', 'Unreported'] as const

/** Number of hosts with an agent, grouped by the release key that the agent trusts. */
export const HostsByReleaseKey = closed({
  state: Type.Enum(hostKeyStates, {
    description:
      '`Current`: the key of this server. `Earlier`: a previous key. `Foreign`: any other key. `None`: the agent was built without a key and refuses updates. `Unreported`: an older agent that may accept any key.',
  }),
  releaseKey: Type.String({
    maxLength: 16,
    description:
      'First 16 digits of the fingerprint, `none` or `unreported`. The `ReleaseKey` filter of the agents list takes this value.',
  }),
  hosts: Type.Integer({ minimum: 1 }),
})
export type HostsByReleaseKey = Static<typeof HostsByReleaseKey>

const path = '/prime/webui/agents/packages'

const packageExample = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  version: '1.4.0',
  architecture: 'x64',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  size: 109_120_320,
  state: 'Published',
  releaseKey: '7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069',
  isNewest: true,
  publishedAt: '2031-05-04T10:11:12.345Z',
  publishedBy: 'admin',
} as const

export const listPackages = operation({
  id: 'listPackages',
  method: 'GET',
  path,
  tag: 'Agents',
  summary: 'Lists agent builds, newest version first, with the release key',
  permission: 'fleet:read',
  response: closed({
    releaseKey: nullable(ReleaseKey, {
      description: 'Current release key. `null`: none is configured, so the server accepts no packages.',
    }),
    formerlyPinned: nullable(
      closed({
        fingerprint: sha256('SHA-256 (hex) of the SPKI DER.'),
        pinnedAt: utcTime('Time at which the key was pinned.'),
        pinnedBy: Type.String(),
      }),
      {
        description:
          'Key that an earlier version of this server pinned over HTTP. It is no longer trusted. If it is your key, add it to the release key file. `null`: there is no such key, or it is configured.',
      },
    ),
    hosts: Type.Array(HostsByReleaseKey),
    data: Type.Array(AgentPackage),
  }),
  examples: { response: { releaseKey: null, formerlyPinned: null, hosts: [], data: [packageExample] } },
})

export const publishPackage = operation({
  id: 'publishPackage',
  method: 'POST',
  path,
  tag: 'Agents',
  summary: 'Publishes a signed agent build',
  fresh: true,
  description:
    'Send one part named `file`, created by `portcullis package sign`, at most 128 MiB. The server checks the release key, signature, digest, size and version before it stores anything. The release key is configured on the server and never in a request. Publishing the same build again changes nothing.',
  permission: 'packages:manage',
  query: closed({
    trust: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Fa-f]{64}$',
        description: 'No longer accepted. A request with this parameter is refused (`release_key_not_over_http`).',
      }),
    ),
  }),
  upload: true,
  uploadLimit: packageFileLimits.fileBytes,
  response: AgentPackage,
  errors: [
    'payload_too_large',
    'release_key_not_over_http',
    'package_key_unknown',
    'package_key_refused',
    'package_signature_wrong',
    'package_damaged',
    'package_not_newer',
    'package_version_taken',
    'second_person_required',
  ],
  examples: { response: packageExample },
})

export const withdrawPackage = operation({
  id: 'withdrawPackage',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'Agents',
  summary: 'Withdraws an agent build',
  description: 'Agents that run the build keep it.',
  fresh: true,
  permission: 'packages:manage',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: AgentPackage,
  examples: { response: { ...packageExample, state: 'Withdrawn', isNewest: false } },
})
