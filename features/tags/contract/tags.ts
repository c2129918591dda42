import { closed, nullable, operation, WorksAgain } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { newlyAllowed, reasonGiven } from '#features/change-requests/contract/newly-allowed.ts'

/** Maximum length of a tag, in characters. */
export const maxTagLength = 64

/** A tag with its counts. */
export const Tag = closed({
  name: Type.String({ description: 'Name as first entered. Unique, ignoring case.' }),
  color: Type.String({
    pattern: '^#[0-9a-f]{6}$',
    description: 'Colour that the server derives from the name. It is the same on all servers.',
  }),
  agentsCount: Type.Integer({ minimum: 0, description: 'Number of hosts with the tag.' }),
  peripheralsCount: Type.Integer({ minimum: 0, description: 'Number of attached and detached devices with the tag.' }),
})
export type Tag = Static<typeof Tag>

/** Kinds of elements that can have tags: hosts and devices. */
export const taggedEntities = ['Agent', 'Peripheral'] as const
export type TaggedEntity = (typeof taggedEntities)[number]

/** Body of addhashtags and deletehashtags. */
export const GatewayHashtagActionDto = closed({
  hashtags: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100_000 }), {
      description: 'Names of tags: 1 to 64 characters, without commas, semicolons, `#` and control characters.',
    }),
  ),
  elementIds: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 100_000 }), {
      description:
        'UUIDs of hosts, or `<uuid>|<deviceID>` of devices. `null` or absent: the call creates or deletes the tags themselves. An empty list changes nothing.',
    }),
  ),
  entityType: Type.Optional(
    nullable(Type.Enum(taggedEntities), {
      description: 'Kind of the elements in `elementIds`. `null`: `Agent` (hosts).',
    }),
  ),
  reason: Type.Optional(
    nullable(Type.String({ maxLength: 200 }), {
      description: 'Reason for the change. It is recorded in the audit trail and shown to the second approver.',
    }),
  ),
  dryRun: Type.Optional(nullable(Type.Boolean(), { description: 'True: returns `newlyAllowed` and changes nothing.' })),
})
export type GatewayHashtagActionDto = Static<typeof GatewayHashtagActionDto>

const dryCount = newlyAllowed(
  'In a dry run: number of hosts on which rules or options for these tags newly allow devices.',
)
const accepted = Type.Array(Type.String(), {
  description: 'IDs of the changed elements, or names of tags if the request has no elements.',
})
const notFound = Type.Array(Type.String(), { description: 'Elements and tags that do not exist. The call skips them.' })

export const AddTagsResult = closed({
  accepted,
  notFound,
  created: Type.Array(Type.String(), { description: 'Names of new tags.' }),
  newlyAllowed: dryCount,
})
export type AddTagsResult = Static<typeof AddTagsResult>

export const DeleteTagsResult = closed({
  accepted,
  notFound,
  deleted: Type.Array(Type.String(), { description: 'Names of deleted tags. Empty if the call untagged elements.' }),
  newlyAllowed: dryCount,
})
export type DeleteTagsResult = Static<typeof DeleteTagsResult>

/** Maximum number of errors that an import returns. */
export const maxImportErrors = 1_000

export const ImportResult = closed({
  imported: Type.Integer({ minimum: 0, description: 'Number of imported lines.' }),
  failed: Type.Integer({ minimum: 0, description: 'Number of invalid lines. They were not stored.' }),
  errors: Type.Array(
    closed({
      line: Type.Integer({ minimum: 1, description: 'First line of the record. The header is line 1.' }),
      message: Type.String(),
    }),
    { description: `The first ${maxImportErrors} errors, in the order of the file.` },
  ),
  newlyAllowed: dryCount,
  worksAgain: Type.Optional(WorksAgain),
})
export type ImportResult = Static<typeof ImportResult>

/** Columns of the tag file, in order. */
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
  summary: 'Lists tags by name, with the numbers of hosts and devices',
  permission: 'fleet:read',
  response: Type.Array(Tag),
  examples: { response: [{ name: 'lab', color: '#1c7ed6', agentsCount: 12, peripheralsCount: 0 }] },
})

export const addHashtags = operation({
  id: 'addHashtags',
  method: 'POST',
  path: '/prime/webui/generalconfig/addhashtags',
  tag: 'GeneralConfig',
  summary: 'Tags hosts or devices, or creates tags',
  description:
    'With `elementIds`, adds the tags to these elements and creates missing tags. Without it or with `null`, only creates the tags. A call can have 250,000 pairs of tag and element. Tags of hosts decide which rules apply to them: a change that newly allows devices on more hosts than the limit needs a second approver.',
  permission: 'fleet:write',
  body: GatewayHashtagActionDto,
  response: AddTagsResult,
  errors: ['second_person_required', 'conflict'],
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
  summary: 'Untags hosts or devices, or deletes tags',
  description:
    'With `elementIds`, removes the tags from these elements. Without it or with `null`, deletes the tags and removes them from all elements. Tags of hosts decide which rules apply to them: a change that newly allows devices on more hosts than the limit needs a second approver.',
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
  summary: 'Exports tags and tagged elements as CSV',
  description:
    'The columns are Type (Tag, Agent or Peripheral), Identifier, Name and Tags (separated by `;`). Rows of the type Tag are tags that no element has. The file is UTF-8 with a byte order mark. An apostrophe precedes each formula, as in the other CSV exports; importtags removes it.',
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
  summary: 'Imports a file from exporttags',
  description:
    'Sets the tags of each element to exactly those in its row, and creates missing tags. Elements that are not in the file keep their tags. Rows of the type Tag create tags. The column Name is ignored. The file is UTF-8 and has at most 32 MiB. Invalid lines are reported and not stored; all other lines are stored, in batches of up to 500. If the file needs a second approver, the server refuses it before the first batch. It stores a change request with the tags of its hosts. Import the file again after the approval. With `dryRun=true`, the response shows the result and nothing is stored. Without a part `file`, all counts are zero.',
  permission: 'fleet:write',
  query: closed({
    dryRun: Type.Optional(Type.Boolean()),
    reason: reasonGiven,
  }),
  upload: true,
  bodyOptional: true,
  response: ImportResult,
  errors: ['payload_too_large', 'second_person_required', 'conflict'],
  examples: {
    response: {
      imported: 41,
      failed: 1,
      errors: [{ line: 7, message: 'There is no agent 01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f.' }],
    },
  },
})
