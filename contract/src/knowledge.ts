import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'
import { icons } from './peripherals.ts'

/** Bounds of knowledge that comes as a file. */
export const knowledgeLimits = {
  /** Characters of the signed text; usb.ids of 2025 has 730,000. */
  payload: 6_000_000,
  usbIds: 4_000_000,
  rows: 5_000,
  names: 20_000,
  pattern: 200,
  /** Bytes of what agents are given of it: attack tools and genuine descriptors as JSON. */
  agentDocument: 8 * 1024 * 1024,
} as const

const text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength, pattern: '^[^\\p{Cc}]*$' })
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

/** Files of a knowledge set. What a set leaves out stays as it is in force. */
export const KnowledgeFiles = closed({
  usbIds: optional(Type.String({ minLength: 1, maxLength: knowledgeLimits.usbIds })),
  attackTools: optional(Type.Array(AttackTool, { maxItems: knowledgeLimits.rows })),
  vulnerable: optional(Type.Array(Vulnerable, { maxItems: knowledgeLimits.rows })),
  genuine: optional(Type.Array(Genuine, { maxItems: knowledgeLimits.rows })),
  supplement: optional(Supplement),
})

export const knowledgeFileNames = ['usbIds', 'attackTools', 'vulnerable', 'genuine', 'supplement'] as const
export type KnowledgeFileName = (typeof knowledgeFileNames)[number]

/** What is signed, as JSON text. */
export const KnowledgePayload = closed({
  format: Type.Literal('portcullis-knowledge-1'),
  version: Type.String({ pattern: '^\\d{1,6}(\\.\\d{1,6}){0,3}$', description: 'Numbers with dots; has to rise.' }),
  createdAt: utcTime('When it was made.'),
  files: KnowledgeFiles,
})
export type KnowledgePayload = Static<typeof KnowledgePayload>

/** A knowledge file as it is carried about: the text, and who signed it. */
export const SignedKnowledge = closed({
  format: Type.Literal('portcullis-signed-knowledge-1'),
  payload: Type.String({
    minLength: 2,
    maxLength: knowledgeLimits.payload,
    description: 'JSON text, signed as it is.',
  }),
  publicKey: Type.String({ pattern: '^[A-Za-z0-9+/]{59}=$', description: 'Base64 SPKI DER of an Ed25519 key.' }),
  signature: Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$', description: 'Base64 Ed25519 signature.' }),
})
export type SignedKnowledge = Static<typeof SignedKnowledge>

/** The text that the signature is over: no other signature of the same key can be taken for it. */
export const knowledgeProofText = (payload: string): string => `portcullis knowledge\n${payload}`

export const knowledgeStates = ['Candidate', 'In force', 'Replaced', 'Withdrawn'] as const

const KnowledgeFile = closed({
  name: Type.Enum(knowledgeFileNames),
  version: Type.String({ description: 'Version of the set it came with; of usb.ids its own.' }),
  source: Type.Enum(['release', 'upload'], { description: 'Shipped with the server, or uploaded.' }),
  entries: Type.Integer({ description: 'Rows, or names of vendors and products.' }),
  bytes: Type.Integer(),
})

export const KnowledgeSet = closed({
  id: Type.String(),
  version: Type.String(),
  state: Type.Enum(knowledgeStates),
  createdAt: utcTime('When it was made.'),
  uploadedAt: utcTime('When it was uploaded.'),
  uploadedBy: Type.String(),
  key: Type.String({ description: 'Fingerprint of the key that signed it.' }),
  brings: Type.Array(Type.Enum(knowledgeFileNames), { description: 'Files of its own.' }),
  appliedAt: nullable(utcTime('When it came into force.')),
  appliedBy: nullable(Type.String()),
})
export type KnowledgeSet = Static<typeof KnowledgeSet>

export const KnowledgeStatus = closed({
  version: Type.String({ description: 'Version in force, as designs carry it.' }),
  source: Type.Enum(['release', 'upload']),
  releaseVersion: Type.String({ description: 'Version shipped with this server.' }),
  madeAt: utcTime('When the knowledge in force was made.'),
  ageDays: Type.Integer({ description: 'Days since then.' }),
  files: Type.Array(KnowledgeFile),
  agentsHash: Type.String({ description: 'SHA-256 of the part that agents hold.' }),
  trustedKeys: Type.Array(
    closed({ fingerprint: Type.String(), trustedAt: utcTime('Since when.'), trustedBy: Type.String() }),
  ),
  candidate: nullable(KnowledgeSet),
  history: Type.Array(KnowledgeSet, { description: 'The newest 50, candidate and the one in force among them.' }),
  judging: closed({
    designs: Type.Integer(),
    waiting: Type.Integer({ description: 'Designs still judged by another version.' }),
    hosts: Type.Integer({ description: 'Hosts whose verdict is still to be made anew.' }),
  }),
})
export type KnowledgeStatus = Static<typeof KnowledgeStatus>

const verdict = closed({
  severity: Type.Integer(),
  attackTool: Type.Enum(['', 'suspected', 'confirmed']),
  vulnerable: Type.Boolean(),
  findings: Type.String({ description: 'In words; empty when none.' }),
})

export const KnowledgeEffect = closed({
  version: Type.String({ description: 'Version of the candidate.' }),
  computedAt: utcTime('When this was computed.'),
  designs: Type.Integer({ description: 'Present designs whose verdict changes.' }),
  devices: Type.Integer({ description: 'Present devices of these designs.' }),
  hosts: Type.Integer({ description: 'Hosts with one of them.' }),
  worse: Type.Integer({ description: 'Designs whose severity rises.' }),
  better: Type.Integer({ description: 'Designs whose severity falls.' }),
  renamed: Type.Integer({ description: 'Models that get another name.' }),
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
    { description: 'The first 500, the severest first.' },
  ),
})
export type KnowledgeEffect = Static<typeof KnowledgeEffect>

const common = { tag: 'Admin' } as const

export const getKnowledge = operation({
  ...common,
  id: 'getKnowledge',
  method: 'GET',
  path: '/prime/webui/admin/knowledge',
  summary: 'Says what the server knows of USB devices, how fresh it is, and where it is from',
  permission: 'health:read',
  response: KnowledgeStatus,
})

export const uploadKnowledge = operation({
  ...common,
  id: 'uploadKnowledge',
  method: 'POST',
  path: '/prime/webui/admin/knowledge',
  fresh: 'it pins a key',
  summary: 'Takes a signed knowledge file as a candidate',
  description:
    'Checked as a whole and refused as a whole; nothing counts before admin/knowledge/apply. The first file pins its key when `trust` names the fingerprint of it; files of other keys are refused from then on. A candidate replaces the one before.',
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
  ],
})

export const previewKnowledge = operation({
  ...common,
  id: 'previewKnowledge',
  method: 'GET',
  path: '/prime/webui/admin/knowledge/preview',
  summary: 'Says whose verdict the candidate would change',
  permission: 'config:read',
  response: KnowledgeEffect,
  errors: ['not_found'],
})

const applied = closed({
  version: Type.String({ description: 'Version in force from now on.' }),
  jobId: Type.String({ description: 'Job that judges all designs anew.' }),
})

export const applyKnowledge = operation({
  ...common,
  id: 'applyKnowledge',
  method: 'POST',
  path: '/prime/webui/admin/knowledge/apply',
  fresh: true,
  summary: 'Puts the candidate in force',
  description:
    'New devices are judged by it at once, known ones by a job. New findings on present devices raise events. Needs a second approver once two Administrators have existed.',
  permission: 'config:write',
  body: closed({ id: Type.String({ maxLength: 64, description: 'Id of the candidate that was looked at.' }) }),
  response: applied,
  errors: ['not_found', 'conflict', 'second_person_required'],
})

export const rollbackKnowledge = operation({
  ...common,
  id: 'rollbackKnowledge',
  method: 'POST',
  path: '/prime/webui/admin/knowledge/rollback',
  fresh: true,
  summary: 'Goes back to what was in force before',
  permission: 'config:write',
  response: applied,
  errors: ['conflict', 'second_person_required'],
})
