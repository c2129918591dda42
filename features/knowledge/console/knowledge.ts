import { type CallFailure, ConsoleRefusal } from '@portcullis/platform/console/lib/problem.ts'
import type { BodyOf, KnowledgeStatus, uploadKnowledge } from '#features/contract.ts'
import { strings } from './strings.ts'

/** A signed knowledge file as sent to the server. */
export type KnowledgeUpload = Omit<BodyOf<typeof uploadKnowledge>, 'trust'>

/** Reads a chosen file. It only has to be possible to send it: the server checks its content. */
export const readKnowledgeFile = (text: string): KnowledgeUpload => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ConsoleRefusal(strings.notJson)
  }
  if (typeof value !== 'object' || value === null || !('payload' in value) || !('signature' in value)) {
    throw new ConsoleRefusal(strings.notSigned)
  }
  return value as KnowledgeUpload
}

/** Returns the fingerprint that the server asks to confirm, or null for other refusals. */
export const trustAsked = ({ code, message }: Pick<CallFailure, 'code' | 'message'>): string | null =>
  code === 'knowledge_key_unknown' ? (/\b[0-9a-f]{64}\b/.exec(message)?.[0] ?? null) : null

/** Describes the age of the knowledge. */
export const ageText = (days: number): string => strings.age({ days: Math.max(0, days) })

/** Describes how far the evaluation with the active knowledge is. */
export const evaluationText = ({ designs, waiting, hosts }: KnowledgeStatus['judging']): string => {
  if (waiting > 0) return strings.evaluating({ done: designs - waiting, all: designs })
  if (hosts > 0) return strings.updatingHosts({ hosts })
  return strings.evaluated({ count: designs })
}
