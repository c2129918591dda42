import { type Static, Type } from 'typebox'
import { newlyAllowed, reasonGiven } from './opening.ts'
import { closed, nullable, operation, WorksAgain } from './operation.ts'

/** Longest name of a tag, in characters. */
export const maxTagLength = 64

/** A tag as people see it. */
export const Tag = closed({
  name: Type.String({ description: 'Unique ignoring case; as it was first written.' }),
  color: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Follows from the name; the same on every server.' }),
  agentsCount: Type.Integer({ minimum: 0, description: 'Agents that carry it.' }),
  peripheralsCount: Type.Integer({ minimum: 0, description: 'Peripherals that carry it, present and gone.' }),
})
export type Tag = Static<typeof Tag>

/** Kinds of elements a tag can be on. */
export const taggedEntities = ['Agent', 'Peripheral'] as const
export type TaggedEntity = (typeof taggedEntities)[number]

/** Body of addhashtags and deletehashtags. */
export const GatewayHashtagActionDto = closed({
  hashtags: Type.Optional(
    nullable(Type.Array(Type.String(), { maxItems: 100_000 }), {
      description: 'Names of 1 to 64 characters, without comma, semicolon, `#` and control characters.',
    }),
  ),
  elementIds: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 100_000 }), {
      description:
        'uuid of agents, or `<uuid>|<deviceID>` of peripherals. Null or empty: the tags themselves are meant.',
    }),
  ),
  entityType: Type.Optional(
    nullable(Type.Enum(taggedEntities), { description: 'What elementIds name; null = Agent.' }),
  ),
  reason: Type.Optional(
    nullable(Type.String({ maxLength: 200 }), {
      description: 'Why. The audit trail keeps it, and a request for a second approver shows it.',
    }),
  ),
  dryRun: Type.Optional(nullable(Type.Boolean(), { description: 'true: counts newlyAllowed and changes nothing.' })),
})
export type GatewayHashtagActionDto = Static<typeof GatewayHashtagActionDto>

const dryCount = newlyAllowed('In a dry run: hosts on which rules or options for these tags newly allow devices.')
const accepted = Type.Array(Type.String(), {
  description: 'Elements it was carried out for; names of tags when no elements were given.',
})
const notFound = Type.Array(Type.String(), { description: 'Elements and tags that do not exist; not fatal.' })

export const AddTagsResult = closed({
  accepted,
  notFound,
  created: Type.Array(Type.String(), { description: 'Tags that did not exist before.' }),
  newlyAllowed: dryCount,
})
export type AddTagsResult = Static<typeof AddTagsResult>

export const DeleteTagsResult = closed({
  accepted,
  notFound,
  deleted: Type.Array(Type.String(), { description: 'Tags that exist no more; empty when elements were untagged.' }),
  newlyAllowed: dryCount,
})
export type DeleteTagsResult = Static<typeof DeleteTagsResult>

/** Errors an import lists; further ones are only counted. */
export const maxImportErrors = 1_000

export const ImportResult = closed({
  imported: Type.Integer({ minimum: 0, description: 'Lines carried out.' }),
  failed: Type.Integer({ minimum: 0, description: 'Lines in error; nothing of them was stored.' }),
  errors: Type.Array(
    closed({
      line: Type.Integer({ minimum: 1, description: 'First line of the record; the header is line 1.' }),
      message: Type.String(),
    }),
    { description: `The first ${maxImportErrors} errors, in the order of the file.` },
  ),
  newlyAllowed: dryCount,
  worksAgain: Type.Optional(WorksAgain),
})
export type ImportResult = Static<typeof ImportResult>

/** Columns of the tag file, in their order. */
export const tagFileColumns = ['Type', 'Identifier', 'Name', 'Tags'] as const

const changeExample = {
  hashtags: ['lab', 'building 7'],
  elementIds: ['01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'],
  entityType: 'Agent',
}

export const getHashtags = operation({
  id: 'getHashtags',
  method: 'GET',
  path: '/prime/webui/generalconfig/gethashtags',
  tag: 'GeneralConfig',
  summary: 'Lists tags by name, with how many agents and peripherals carry them',
  permission: 'fleet:read',
  response: Type.Array(Tag),
  examples: { response: [{ name: 'lab', color: '#1c7ed6', agentsCount: 12, peripheralsCount: 0 }] },
})

export const addHashtags = operation({
  id: 'addHashtags',
  method: 'POST',
  path: '/prime/webui/generalconfig/addhashtags',
  tag: 'GeneralConfig',
  summary: 'Tags agents or peripherals, or creates tags',
  description:
    'With elementIds it tags those and creates tags that do not exist; without it creates the tags only. At most 250,000 pairs of tag and element in one call. Tags of agents decide which rules apply to them: a change that newly allows devices on more hosts than the limit needs a second approver.',
  permission: 'fleet:write',
  body: GatewayHashtagActionDto,
  response: AddTagsResult,
  errors: ['second_person_required'],
  examples: {
    request: changeExample,
    response: { accepted: changeExample.elementIds, notFound: [], created: ['lab'] },
  },
})

export const deleteHashtags = operation({
  id: 'deleteHashtags',
  method: 'POST',
  path: '/prime/webui/generalconfig/deletehashtags',
  tag: 'GeneralConfig',
  summary: 'Untags agents or peripherals, or deletes tags',
  description:
    'With elementIds it untags those; without it deletes the tags themselves, from everything that carries them. Tags of agents decide which rules apply to them: a change that newly allows devices on more hosts than the limit needs a second approver.',
  permission: 'fleet:write',
  body: GatewayHashtagActionDto,
  response: DeleteTagsResult,
  errors: ['second_person_required'],
  examples: { request: changeExample, response: { accepted: changeExample.elementIds, notFound: [], deleted: [] } },
})

export const exportTags = operation({
  id: 'exportTags',
  method: 'GET',
  path: '/prime/webui/generalconfig/exporttags',
  tag: 'GeneralConfig',
  summary: 'Exports tags and what carries them as CSV',
  description:
    'Columns Type (Tag, Agent, Peripheral), Identifier, Name, Tags (separated by `;`). Rows of type Tag are tags that nothing carries. UTF-8 with a byte order mark; a cell that a spreadsheet would run as a formula begins with an apostrophe, which importtags takes off again.',
  permission: 'export:read',
  heavy: 'export',
  response: Type.String(),
  responseKind: 'file',
  fileType: 'text/csv',
})

export const importTags = operation({
  id: 'importTags',
  method: 'POST',
  path: '/prime/webui/generalconfig/importtags',
  tag: 'GeneralConfig',
  summary: 'Reads a file of exporttags',
  description:
    'Sets the tags of each element to exactly those of its row, and creates missing tags. Elements that the file does not list keep their tags. Rows of type Tag create tags. Lines with errors are reported and not stored; all other lines are stored. At most 32 MiB, UTF-8. The column Name is ignored. Lines are stored in batches of up to 500. If a file needs a second approver, the whole file is refused before the first batch; the approval request contains the tags of its hosts. Import the file again after the approval. With dryRun=true, the response shows the result and nothing is stored. Without a part `file`, all counts are zero.',
  permission: 'fleet:write',
  query: closed({
    dryRun: Type.Optional(Type.Boolean()),
    reason: reasonGiven,
  }),
  upload: true,
  bodyOptional: true,
  response: ImportResult,
  errors: ['payload_too_large', 'second_person_required'],
  examples: {
    response: {
      imported: 41,
      failed: 1,
      errors: [{ line: 7, message: 'There is no agent 01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f.' }],
    },
  },
})
