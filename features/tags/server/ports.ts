import type { Queryable, Rollback, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { WorksAgain } from '#features/contract.ts'
import type { HostTagChange, TagChange } from './changes.ts'

/** Port to the policy, a higher capability: tags decide which rules apply, and removing one may remove a deny. */
export interface TagGate {
  /** Returns on how many hosts the changes newly allow devices. */
  measure(q: Queryable, changes: readonly HostTagChange[]): Promise<number>
  /** Returns the blocked devices that work again after the changes. */
  worksAgain(q: Queryable, changes: readonly HostTagChange[]): Promise<WorksAgain>
  /**
   * Returns null if one person may allow devices on that many hosts. Otherwise the transaction of the change returns the
   * result, which rolls it back.
   */
  approve(tx: Tx, actor: Actor, changes: readonly HostTagChange[], order: TagChange): Promise<Rollback<never> | null>
  /** Returns the result of a transaction. If its change needs a second approver, files it and throws the refusal. */
  settle<T>(actor: Actor, outcome: T | Rollback<T>): Promise<T>
}
