import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { TaggedEntity } from '#features/contract.ts'
import { type TagName, tagColor } from './names.ts'

/** Key of an element. `deviceId` is empty for agents. */
export interface Element {
  agentId: string
  deviceId: string
}

export interface StoredTag {
  tag_id: number
  name: string
  folded: string
}

export type TagsStore = ReturnType<typeof createTagsStore>

const elementsOf = (elements: readonly Element[]) =>
  unnestOf([
    [elements.map((e) => e.agentId), 'uuid[]'],
    [elements.map((e) => e.deviceId), 'text[]'],
  ])

/** Row operations of tags. All writes follow the order of their keys, so that parallel writers cannot deadlock. */
export const createTagsStore = (db: Queryable) => ({
  names: async (): Promise<string[]> =>
    (await db.query<{ name: string }>(sql`select t.name from tags t order by t.folded`)).map(({ name }) => name),

  /** Creates the tags that do not exist. Returns the created ones. */
  create: (names: readonly TagName[]): Promise<StoredTag[]> =>
    db.query<StoredTag>(sql`
      insert into tags (name, folded, color)
      select n.name, n.folded, n.color from ${unnestOf([
        [names.map((n) => n.name), 'text[]'],
        [names.map((n) => n.folded), 'text[]'],
        [names.map((n) => tagColor(n.folded)), 'text[]'],
      ])} n(name, folded, color)
      order by n.folded
      on conflict (folded) do nothing
      returning tag_id, name, folded`),

  byFolded: (folded: readonly string[]): Promise<StoredTag[]> =>
    db.query<StoredTag>(
      sql`select t.tag_id, t.name, t.folded from tags t where t.folded = any(${folded}::text[]) order by t.folded`,
    ),

  /** Returns the existing tags, and keeps them from being deleted until the transaction ends. */
  lock: (folded: readonly string[]): Promise<StoredTag[]> =>
    db.query<StoredTag>(
      sql`select t.tag_id, t.name, t.folded from tags t where t.folded = any(${folded}::text[]) order by t.folded for key share`,
    ),

  /** Deletes tags, and removes them from all elements. */
  remove: (tagIds: readonly number[]): Promise<{ name: string }[]> =>
    db.query<{ name: string }>(sql`delete from tags t where t.tag_id = any(${tagIds}::int[]) returning t.name`),

  /** Returns the existing elements, and keeps them from being deleted until the transaction ends. */
  lockExisting: async (entity: TaggedEntity, elements: readonly Element[]): Promise<Element[]> =>
    entity === 'Agent'
      ? db.query<Element>(sql`
          select a.agent_id as "agentId", '' as "deviceId" from agents a
          where a.agent_id = any(${elements.map((e) => e.agentId)}::uuid[])
          order by a.agent_id for key share`)
      : db.query<Element>(sql`
          select p.agent_id as "agentId", p.device_id as "deviceId" from peripherals p
          where (p.agent_id, p.device_id) in (select e.agent_id, e.device_id from ${elementsOf(elements)} e(agent_id, device_id))
          order by p.agent_id, p.device_id for key share`),

  /** Returns the names of hosts, for the audit trail. */
  hostNames: (agentIds: readonly string[]): Promise<{ agent_id: string; host: string }[]> =>
    db.query(sql`
      select a.agent_id, a.host from agents a where a.agent_id = any(${agentIds.slice(0, 1_000)}::uuid[]) order by a.host, a.agent_id`),

  ofAgents: (agentIds: readonly string[]): Promise<{ agent_id: string; name: string; folded: string }[]> =>
    db.query(sql`
      select x.agent_id, t.name, t.folded from agent_tags x join tags t on t.tag_id = x.tag_id
      where x.agent_id = any(${agentIds}::uuid[])`),

  /** Adds every tag to every element. Existing ones stay. */
  tag: (entity: TaggedEntity, elements: readonly Element[], tagIds: readonly number[]): Promise<number> =>
    entity === 'Agent'
      ? db.execute(sql`
          insert into agent_tags (agent_id, tag_id)
          select e.agent_id, t.tag_id from ${elementsOf(elements)} e(agent_id, device_id)
          cross join unnest(${tagIds}::int[]) t(tag_id)
          order by e.agent_id, t.tag_id on conflict do nothing`)
      : db.execute(sql`
          insert into peripheral_tags (agent_id, device_id, tag_id)
          select e.agent_id, e.device_id, t.tag_id from ${elementsOf(elements)} e(agent_id, device_id)
          cross join unnest(${tagIds}::int[]) t(tag_id)
          order by e.agent_id, e.device_id, t.tag_id on conflict do nothing`),

  untag: (entity: TaggedEntity, elements: readonly Element[], tagIds: readonly number[]): Promise<number> =>
    entity === 'Agent'
      ? db.execute(sql`
          delete from agent_tags x using ${elementsOf(elements)} e(agent_id, device_id)
          where x.agent_id = e.agent_id and x.tag_id = any(${tagIds}::int[])`)
      : db.execute(sql`
          delete from peripheral_tags x using ${elementsOf(elements)} e(agent_id, device_id)
          where x.agent_id = e.agent_id and x.device_id = e.device_id and x.tag_id = any(${tagIds}::int[])`),

  /** Sets exactly these pairs on the elements. `pairs` contains only `elements`. */
  setExactly: async (
    entity: TaggedEntity,
    elements: readonly Element[],
    pairs: readonly { element: Element; tagId: number }[],
  ): Promise<void> => {
    const pairRows = unnestOf([
      [pairs.map((p) => p.element.agentId), 'uuid[]'],
      [pairs.map((p) => p.element.deviceId), 'text[]'],
      [pairs.map((p) => p.tagId), 'int[]'],
    ])
    if (entity === 'Agent') {
      await db.execute(sql`
        delete from agent_tags x using ${elementsOf(elements)} e(agent_id, device_id)
        where x.agent_id = e.agent_id
          and not exists (select from ${pairRows} p(agent_id, device_id, tag_id)
                          where p.agent_id = x.agent_id and p.tag_id = x.tag_id)`)
      await db.execute(sql`
        insert into agent_tags (agent_id, tag_id)
        select p.agent_id, p.tag_id from ${pairRows} p(agent_id, device_id, tag_id)
        order by 1, 2 on conflict do nothing`)
      return
    }
    await db.execute(sql`
      delete from peripheral_tags x using ${elementsOf(elements)} e(agent_id, device_id)
      where x.agent_id = e.agent_id and x.device_id = e.device_id
        and not exists (select from ${pairRows} p(agent_id, device_id, tag_id)
                        where p.agent_id = x.agent_id and p.device_id = x.device_id and p.tag_id = x.tag_id)`)
    await db.execute(sql`
      insert into peripheral_tags (agent_id, device_id, tag_id)
      select p.agent_id, p.device_id, p.tag_id from ${pairRows} p(agent_id, device_id, tag_id)
      order by 1, 2, 3 on conflict do nothing`)
  },
})
