import type { Knowledge } from '@portcullis/domain'
import type { KnowledgeEffect, KnowledgeStatus } from '#features/contract.ts'

/** The functions that knowledge needs from devices, a higher capability. */
export interface EvaluationPort {
  /** Computes what other knowledge would change for attached devices. Reads for seconds, outside a transaction. */
  effectOf(knowledge: Knowledge): Promise<Omit<KnowledgeEffect, 'version' | 'computedAt'>>
  /** Returns the remaining work of the job that re-evaluates verdicts. */
  progress(version: string): Promise<KnowledgeStatus['judging']>
}
