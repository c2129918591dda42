import type { WorksAgain } from '@portcullis/contract'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HostTagChange, TagOrder } from './tags.orders.ts'

/** Port to the policy, a higher feature: tags decide which rules apply, and removing one may remove a deny. */
export interface TagGate {
  /** Returns on how many hosts the changes newly allow devices. */
  measure(q: Queryable, changes: readonly HostTagChange[]): Promise<number>
  /** Returns the blocked devices that work again after the changes. */
  worksAgain(q: Queryable, changes: readonly HostTagChange[]): Promise<WorksAgain>
  /** Refuses to allow devices on more hosts than one person may. Runs in the transaction of the change, before it. */
  assertAlone(tx: Tx, actor: Actor, changes: readonly HostTagChange[], order: TagOrder): Promise<void>
  /** Runs the transaction. If it was refused, files the request once the transaction has rolled back. */
  run<T>(actor: Actor, transaction: () => Promise<T>): Promise<T>
}
