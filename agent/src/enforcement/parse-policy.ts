import { agentLimits, type PolicyPayload, type PolicyRule, policyKinds } from '@portcullis/contract/agent-protocol.ts'

/**
 * Checks the contract's `PolicyPayload` by hand, because a schema checker would add 8 MB to every host. A test compares
 * this code with the schema.
 */

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

/** `max` counts code points as the contract does, not UTF-16 units. */
const isText =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && (value.length <= max || (value.length <= 2 * max && [...value].length <= max))
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const oneOf =
  (values: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && values.includes(value)
const isTime: Check = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d(:?\d\d)?)$/.test(value) &&
  Number.isFinite(Date.parse(value))
const isKinds: Check = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= policyKinds.length &&
  value.every((kind) => policyKinds.some((known) => known === kind))

const fields = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Returns whether all members are known and valid and no required member is missing. */
const isShape = (value: unknown, required: Map<string, Check>, optional: Map<string, Check>): boolean => {
  const all = fields(value)
  return (
    all !== undefined &&
    [...required.keys()].every((key) => Object.hasOwn(all, key)) &&
    Object.entries(all).every(([key, member]) => (required.get(key) ?? optional.get(key))?.(member) === true)
  )
}

const ruleRequired = new Map<string, Check>([
  ['id', isText(64)],
  ['effect', oneOf(['allow', 'deny'])],
  ['level', oneOf(['grant', 'host', 'tag', 'global'])],
])
const ruleOptional = new Map<string, Check>([
  ['vid', matches(/^[0-9A-F]{4}$/)],
  ['pid', matches(/^[0-9A-F]{4}$/)],
  ['serial', isText(agentLimits.escapedString)],
  ['hasCleanedSerial', (value) => typeof value === 'boolean'],
  ['kinds', isKinds],
  ['fingerprint', matches(/^[0-9a-f]{32}$/)],
  ['ruleFingerprint', matches(/^[0-9a-f]{32}$/)],
  ['expiresAt', isTime],
  ['overrideAttackTool', (value) => typeof value === 'boolean'],
  ['reason', isText(200)],
])
const isRule = (value: unknown): value is PolicyRule => isShape(value, ruleRequired, ruleOptional)

const payloadRequired = new Map<string, Check>([
  ['kind', (value) => value === 'policy'],
  ['agentId', isText(128)],
  ['nonce', matches(/^[A-Za-z0-9_-]{22,64}$/)],
  ['version', (value) => Number.isSafeInteger(value) && Number(value) >= 0],
  ['issuedAt', isTime],
  ['rules', (value) => Array.isArray(value) && value.length <= agentLimits.rules && value.every(isRule)],
  ['knowledgeHash', matches(/^[0-9a-f]{64}$/)],
  ['contact', isText(200)],
])
const isBoolean: Check = (value) => typeof value === 'boolean'
const optionsRequired = new Map<string, Check>([
  ['keepsLastKeyboard', isBoolean],
  ['failsClosed', isBoolean],
])
const payloadOptional = new Map<string, Check>([
  ['options', (value) => isShape(value, optionsRequired, new Map())],
  [
    'accepted',
    (value) => Array.isArray(value) && value.length <= agentLimits.accepted && value.every((one) => isText(128)(one)),
  ],
])
const isPayload = (value: unknown): value is PolicyPayload => isShape(value, payloadRequired, payloadOptional)

/**
 * Parses the text of a verified policy.
 *
 * @throws if it does not match the contract
 */
export const parsePolicy = (text: string): PolicyPayload => {
  const value: unknown = JSON.parse(text)
  if (!isPayload(value)) throw new Error('the policy does not match the protocol')
  return value
}
