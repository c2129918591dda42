import {
  type AgentCommand,
  type AgentCommandBodies,
  type AgentCommandKind,
  agentLimits,
  maxReleaseKeyRotations,
  maxRevertMinutes,
} from '@portcullis/contract/agent-protocol.ts'
import { isReleaseKeyRotation } from '@portcullis/domain'
import { parseJson } from './files.ts'

/** The common members of a command. `command` is undefined if its kind is unknown or a member is invalid. */
export interface ParsedCommand {
  id: string
  agentId: string
  kind: string
  counter: number
  expiresAt: string
  command: AgentCommand | undefined
}

type Fields = Readonly<Record<string, unknown>>

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= max
const isRelease = (value: unknown): value is { id: string; accept: boolean } => {
  const { id, accept } = (value ?? {}) as Fields
  return isText(id, 64) && typeof accept === 'boolean'
}
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const isRevert = (value: unknown): value is number => isCount(value) && value <= maxRevertMinutes

const bodies: { [K in AgentCommandKind]: (fields: Fields) => AgentCommandBodies[K] | undefined } = {
  configure: ({ mode, applyToPresent, revertMinutes = 0 }) =>
    (mode === 'Free' || mode === 'Armed') && typeof applyToPresent === 'boolean' && isRevert(revertMinutes)
      ? { mode, applyToPresent, revertMinutes }
      : undefined,
  policy: ({ version }) => (isCount(version) ? { version } : undefined),
  'collect-logs': () => ({}),
  'release-ports': ({ releases }) =>
    Array.isArray(releases) && releases.length <= agentLimits.heldPorts && releases.every(isRelease)
      ? { releases }
      : undefined,
  update: ({ version, sha256, size, architecture, releaseKey, releaseSignature, rotations = [] }) =>
    isText(version, 64) &&
    isHash(sha256) &&
    isCount(size) &&
    isText(architecture, 32) &&
    isText(releaseKey, 512) &&
    isText(releaseSignature, 512) &&
    Array.isArray(rotations) &&
    rotations.length <= maxReleaseKeyRotations &&
    rotations.every(isReleaseKeyRotation)
      ? { version, sha256, size, architecture, releaseKey, releaseSignature, rotations }
      : undefined,
}

const isKind = (kind: string): kind is AgentCommandKind => Object.hasOwn(bodies, kind)

/** Parses the text of a verified command. Returns undefined if it is not a command. */
export const parseCommand = (payload: string): ParsedCommand | undefined => {
  const fields = (parseJson(payload) ?? {}) as Fields
  const { id, agentId, kind, counter, expiresAt } = fields
  if (!isText(id, 64) || typeof agentId !== 'string' || typeof kind !== 'string') return undefined
  if (!Number.isSafeInteger(counter) || typeof expiresAt !== 'string') return undefined
  const head = { id, agentId, kind, counter: Number(counter), expiresAt }
  const body = isKind(kind) ? bodies[kind](fields) : undefined
  return { ...head, command: body === undefined ? undefined : ({ ...head, ...body } as AgentCommand) }
}
