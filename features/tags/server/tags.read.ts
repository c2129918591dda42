import type { Readable } from 'node:stream'
import { streamCsv } from '@portcullis/platform/server/csv.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { type Tag, tagFileColumns } from '#features/contract.ts'
import type { TagsContext } from './context.ts'

export const createTagsRead = ({ db, exportDb }: TagsContext) => ({
  list: (): Promise<Tag[]> =>
    db.query<Tag>(sql`
      select t.name, t.color, coalesce(a.n, 0)::int as "agentsCount", coalesce(p.n, 0)::int as "peripheralsCount"
      from tags t
      left join (select x.tag_id, count(*) as n from agent_tags x group by 1) a on a.tag_id = t.tag_id
      left join (select x.tag_id, count(*) as n from peripheral_tags x group by 1) p on p.tag_id = t.tag_id
      order by t.folded`),

  /** Streams unused tags, then agents with their tags, then peripherals with theirs. */
  exportFile: (): Readable =>
    streamCsv(
      exportDb,
      tagFileColumns.map((heading) => ({ heading, isText: true })),
      sql`
      select r.type, nullif(r.identifier, ''), nullif(r.name, ''), r.tags from (
        select 'Tag' as type, '' as identifier, '' as name, t.name as tags, 1 as part, t.folded as first, '' as second
        from tags t
        where not exists (select from agent_tags x where x.tag_id = t.tag_id)
          and not exists (select from peripheral_tags x where x.tag_id = t.tag_id)
        union all
        select 'Agent', a.agent_id::text, a.host, x.names, 2, a.agent_id::text, ''
        from agents a
        join (select x.agent_id, string_agg(t.name, ';' order by t.folded) as names
              from agent_tags x join tags t on t.tag_id = x.tag_id group by 1) x on x.agent_id = a.agent_id
        union all
        select 'Peripheral', p.agent_id::text || '|' || p.device_id, a.host || ' ' || d.product,
               x.names, 3, p.agent_id::text, p.device_id
        from peripherals p
        join (select x.agent_id, x.device_id, string_agg(t.name, ';' order by t.folded) as names
              from peripheral_tags x join tags t on t.tag_id = x.tag_id group by 1, 2) x
          on x.agent_id = p.agent_id and x.device_id = p.device_id
        join agents a on a.agent_id = p.agent_id
        join designs d on d.design_id = p.design_id) r
      order by r.part, r.first, r.second`,
    ),
})
