import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { icons } from '#features/devices/contract/peripherals.ts'

/** Limits of knowledge files. */
export const knowledgeLimits = {
  /** Maximum characters of the signed text. usb.ids of 2025 has 730,000. */
  payload: 6_000_000,
  usbIds: 4_000_000,
  rows: 5_000,
  names: 20_000,
  pattern: 200,
  /** Maximum bytes of the part for agents: attack tools and genuine descriptors as JSON. */
  agentDocument: 8 * 1024 * 1024,
} as const

const text = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })
const hex4 = Type.String({ pattern: '^[0-9A-F]{4}$' })
const pattern = Type.String({ minLength: 1, maxLength: knowledgeLimits.pattern })
const kinds = Object.values(icons).filter((name) => name !== 'NO_DEV')
const optional = Type.Optional

const DeviceTest = closed({
  manufacturer: optional(pattern),
  product: optional(pattern),
  serial: optional(pattern),
  configuration: optional(pattern),
  interfaceCount: optional(Type.Integer({ minimum: 0, maximum: 512 })),
  maxPowerMa: optional(Type.Integer({ minimum: 0, maximum: 5_000 })),
  bcdDevice: optional(hex4),
  selfPowered: optional(Type.Boolean()),
  hasSerial: optional(Type.Boolean()),
  minSpeedMbps: optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  anyKind: optional(Type.Array(Type.Enum(kinds), { minItems: 1, maxItems: kinds.length })),
})

const AttackTool = closed({
  id: text(120, 1),
  group: Type.Enum(['own', 'board', 'real', 'strings', 'policy']),
  vid: optional(hex4),
  pid: optional(hex4),
  pidTo: optional(hex4),
  name: text(200, 1),
  kind: text(500),
  when: optional(DeviceTest),
  support: optional(Type.Array(DeviceTest, { maxItems: 20 })),
  sharedWith: optional(text(200, 1)),
  source: text(1_000, 1),
})

const confidence = Type.Enum(['firmware', 'model', 'family'])
const Vulnerable = closed({
  id: text(120, 1),
  match: Type.Enum(['id', 'strings', 'none']),
  vid: nullable(hex4),
  pid: nullable(hex4),
  pidTo: optional(hex4),
  vendor: text(500),
  product: text(500),
  when: optional(DeviceTest),
  firmware: optional(
    closed({
      exact: optional(Type.Array(hex4, { maxItems: 200 })),
      branches: optional(
        Type.Array(closed({ from: hex4, below: hex4, confidence: optional(confidence) }), { maxItems: 50 }),
      ),
    }),
  ),
  confidence: optional(confidence),
  sharedWith: optional(text(200, 1)),
  condition: text(1_000),
  weakness: text(1_000, 1),
  cvss: nullable(Type.Number({ minimum: 0, maximum: 10 })),
  cvssVersion: optional(text(10)),
  note: optional(text(1_000)),
  source: text(1_000, 1),
})

const Genuine = closed({
  vid: hex4,
  pid: hex4,
  name: text(200, 1),
  classes: Type.Array(Type.String({ pattern: '^[0-9a-f]{2}$' }), { maxItems: 64 }),
  interfaceSets: optional(Type.Array(text(500), { maxItems: 100 })),
  serial: optional(Type.Literal('never')),
  maxSpeedMbps: optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  ep0: optional(Type.Array(Type.Integer({ minimum: 0, maximum: 65_536 }), { maxItems: 16 })),
  bcdMajor: optional(Type.Array(Type.String({ pattern: '^[0-9A-F]{2}$' }), { maxItems: 256 })),
  bcd: optional(Type.Array(hex4, { maxItems: 64 })),
  powerMa: optional(Type.Array(Type.Integer({ minimum: 0, maximum: 5_000 }), { maxItems: 16 })),
  bootPacket: optional(Type.Array(Type.Integer({ minimum: 0, maximum: 2_047 }), { maxItems: 16 })),
  manufacturer: optional(pattern),
  product: optional(pattern),
  configuration: optional(pattern),
  samples: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  source: text(1_000, 1),
})

const name = closed({ name: text(200, 1), source: text(1_000) })
const Supplement = closed({
  vendors: Type.Record(Type.String({ pattern: '^[0-9A-F]{4}$' }), name, { maxProperties: knowledgeLimits.names }),
  products: Type.Record(Type.String({ pattern: '^[0-9A-F]{4}:[0-9A-F]{4}$' }), name, {
    maxProperties: knowledgeLimits.names,
  }),
})

const Registries = closed({
  sources: Type.Record(
    Type.String({ pattern: '^[a-z0-9.-]{1,40}$' }),
    closed({
      url: text(500),
      version: text(100),
      date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      licence: text(200),
      vid: optional(hex4),
    }),
    { maxProperties: 50 },
  ),
  products: Type.Record(
    Type.String({ pattern: '^[0-9A-F]{4}:[0-9A-F]{4}(-[0-9A-F]{4})?$' }),
    Type.Array(text(200, 1), { minItems: 2, maxItems: 3 }),
    { maxProperties: knowledgeLimits.names },
  ),
})

/** Files of a knowledge set. Absent files stay unchanged. */
export const KnowledgeFiles = closed({
  usbIds: optional(Type.String({ minLength: 1, maxLength: knowledgeLimits.usbIds })),
  attackTools: optional(Type.Array(AttackTool, { maxItems: knowledgeLimits.rows })),
  vulnerable: optional(Type.Array(Vulnerable, { maxItems: knowledgeLimits.rows })),
  genuine: optional(Type.Array(Genuine, { maxItems: knowledgeLimits.rows })),
  supplement: optional(Supplement),
  registries: optional(Registries),
})

export const knowledgeFileNames = [
  'usbIds',
  'attackTools',
  'vulnerable',
  'genuine',
  'supplement',
  'registries',
] as const
export type KnowledgeFileName = (typeof knowledgeFileNames)[number]

/** The signed content, as JSON text. */
export const KnowledgePayload = closed({
  format: Type.Literal('portcullis-knowledge-1'),
  version: Type.String({
    pattern: '^\\d{1,6}(\\.\\d{1,6}){0,3}$',
    description: 'Numbers separated by dots. Must be higher than the current version.',
  }),
  createdAt: utcTime('Time at which the set was created.'),
  files: KnowledgeFiles,
})
export type KnowledgePayload = Static<typeof KnowledgePayload>

/** A knowledge file: the content with its key and signature. */
export const SignedKnowledge = closed({
  format: Type.Literal('portcullis-signed-knowledge-1'),
  payload: Type.String({
    minLength: 2,
    maxLength: knowledgeLimits.payload,
    description: 'Signed JSON text.',
  }),
  publicKey: Type.String({ pattern: '^[A-Za-z0-9+/]{59}=$', description: 'Base64 SPKI DER of an Ed25519 key.' }),
  signature: Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$', description: 'Base64 Ed25519 signature.' }),
})
export type SignedKnowledge = Static<typeof SignedKnowledge>

/** Returns the signed text. Its first line distinguishes it from all other texts that the key signs. */
export const knowledgeProofText = (payload: string): string => `portcullis knowledge\n${payload}`

export const knowledgeStates = ['Candidate', 'In force', 'Replaced', 'Withdrawn'] as const

const KnowledgeFile = closed({
  name: Type.Enum(knowledgeFileNames),
  version: Type.String({ description: 'Version of the set that contains the file. usb.ids has its own version.' }),
  source: Type.Enum(['release', 'upload'], { description: '`release`: shipped with the server. `upload`: uploaded.' }),
  entries: Type.Integer({ description: 'Number of rows, or of names of vendors and products.' }),
  bytes: Type.Integer(),
})

export const KnowledgeSet = closed({
  id: Type.String(),
  version: Type.String(),
  state: Type.Enum(knowledgeStates),
  createdAt: utcTime('Time at which the set was created.'),
  uploadedAt: utcTime('Time of the upload.'),
  uploadedBy: Type.String(),
  key: Type.String({ description: 'Fingerprint of the signing key.' }),
  brings: Type.Array(Type.Enum(knowledgeFileNames), { description: 'Files in the set.' }),
  appliedAt: nullable(utcTime('Time at which the set was applied.')),
  appliedBy: nullable(Type.String()),
})
export type KnowledgeSet = Static<typeof KnowledgeSet>

export const KnowledgeStatus = closed({
  version: Type.String({ description: 'Current version. Each fingerprint stores the version of its verdict.' }),
  source: Type.Enum(['release', 'upload']),
  releaseVersion: Type.String({ description: 'Version that was shipped with this server.' }),
  madeAt: utcTime('Time at which the current knowledge was created.'),
  ageDays: Type.Integer({ description: 'Age of the current knowledge, in days.' }),
  files: Type.Array(KnowledgeFile),
  agentsHash: Type.String({ description: 'SHA-256 of the part for agents.' }),
  trustedKeys: Type.Array(
    closed({
      fingerprint: Type.String(),
      trustedAt: utcTime('Time from which the key is trusted.'),
      trustedBy: Type.String(),
    }),
  ),
  candidate: nullable(KnowledgeSet),
  history: Type.Array(KnowledgeSet, {
    description: 'The newest 50 sets, including the candidate and the current set.',
  }),
  judging: closed({
    designs: Type.Integer(),
    waiting: Type.Integer({ description: 'Number of fingerprints whose verdict is from another version.' }),
    hosts: Type.Integer({ description: 'Number of hosts that still have to be updated.' }),
  }),
})
export type KnowledgeStatus = Static<typeof KnowledgeStatus>

const verdict = closed({
  severity: Type.Integer(),
  attackTool: Type.Enum(['', 'suspected', 'confirmed']),
  vulnerable: Type.Boolean(),
  findings: Type.String({ description: 'Findings as text. Empty if there are none.' }),
})

export const KnowledgeEffect = closed({
  version: Type.String({ description: 'Version of the candidate.' }),
  computedAt: utcTime('Time of the computation.'),
  designs: Type.Integer({ description: 'Number of fingerprints of attached devices whose verdict changes.' }),
  devices: Type.Integer({ description: 'Number of attached devices with these fingerprints.' }),
  hosts: Type.Integer({ description: 'Number of hosts with these devices.' }),
  worse: Type.Integer({ description: 'Number of fingerprints whose severity increases.' }),
  better: Type.Integer({ description: 'Number of fingerprints whose severity decreases.' }),
  renamed: Type.Integer({ description: 'Number of models whose name changes.' }),
  data: Type.Array(
    closed({
      vid: Type.String(),
      pid: Type.String(),
      guiVid: Type.String(),
      guiPid: Type.String(),
      devIcon: Type.Integer(),
      fingerprint: Type.String(),
      before: verdict,
      after: verdict,
      agentsCount: Type.Integer(),
      peripheralsCount: Type.Integer(),
    }),
    { description: 'The first 500 fingerprints, most severe first.' },
  ),
})
export type KnowledgeEffect = Static<typeof KnowledgeEffect>

const common = { tag: 'Admin' } as const

export const getKnowledge = operation({
  ...common,
  id: 'getKnowledge',
  method: 'GET',
  path: '/prime/webui/admin/knowledge',
  summary: 'Returns the versions, age and sources of the knowledge about USB devices',
  permission: 'health:read',
  response: KnowledgeStatus,
})

export const uploadKnowledge = operation({
  ...common,
  id: 'uploadKnowledge',
  heavy: 'preview',
  method: 'POST',
  path: '/prime/webui/admin/knowledge',
  fresh: 'the file pins a key',
  summary: 'Uploads a signed knowledge file as a candidate',
  description:
    'The server accepts or refuses the file as a whole. The file takes effect only with admin/knowledge/apply. The first file pins its key if `trust` is the fingerprint of that key. Once two Administrators have existed, pinning the key needs a second approver: upload the file again after the approval. After that, files signed with other keys are refused. A new candidate replaces the previous one.',
  permission: 'config:write',
  body: closed({
    ...SignedKnowledge.properties,
    trust: optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Fingerprint of the key to pin.' })),
  }),
  response: closed({ candidate: KnowledgeSet, effect: KnowledgeEffect }),
  errors: [
    'knowledge_key_unknown',
    'knowledge_key_refused',
    'knowledge_signature_wrong',
    'knowledge_invalid',
    'conflict',
    'second_person_required',
  ],
})

export const previewKnowledge = operation({
  ...common,
  id: 'previewKnowledge',
  heavy: 'preview',
  method: 'GET',
  path: '/prime/webui/admin/knowledge/preview',
  summary: 'Previews the verdicts that the candidate changes',
  permission: 'config:read',
  response: KnowledgeEffect,
  errors: ['not_found'],
})

const applied = closed({
  version: Type.String({ description: 'New current version.' }),
  jobId: Type.String({ description: 'ID of the job that re-evaluates all fingerprints.' }),
})

export const applyKnowledge = operation({
  ...common,
  id: 'applyKnowledge',
  method: 'POST',
  path: '/prime/webui/admin/knowledge/apply',
  fresh: true,
  summary: 'Applies the candidate',
  description:
    'New devices are evaluated with it at once, known devices by a job. New findings on attached devices create events. The call needs a second approver once two Administrators have existed.',
  permission: 'config:write',
  body: closed({ id: Type.String({ maxLength: 64, description: 'ID of the candidate that you reviewed.' }) }),
  response: applied,
  errors: ['not_found', 'conflict', 'second_person_required'],
})

export const rollbackKnowledge = operation({
  ...common,
  id: 'rollbackKnowledge',
  method: 'POST',
  path: '/prime/webui/admin/knowledge/rollback',
  fresh: true,
  summary: 'Restores the previous knowledge',
  permission: 'config:write',
  response: applied,
  errors: ['conflict', 'second_person_required'],
})
