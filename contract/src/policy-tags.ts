import { Type } from 'typebox'
import { closed, nullable, operation } from './operation.ts'
import { Prediction } from './prediction.ts'

/** A change of the tags of hosts that is not made yet. */
export const HostTagsChange = closed({
  effect: Type.Enum(['add', 'remove']),
  hashtags: Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 100 }),
  uuids: nullable(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100_000 }), {
    description:
      'Hosts that get or lose the tags; null: every host that carries one of them, because the tags are deleted.',
  }),
})

export const previewTags = operation({
  id: 'previewTags',
  method: 'POST',
  path: '/prime/webui/policy/tags/preview',
  tag: 'Policy',
  summary: 'Says what a change of the tags of hosts would do',
  description: 'Tags decide which rules apply to a host. All changes are judged together; nothing is written.',
  permission: 'fleet:read',
  body: closed({ changes: Type.Array(HostTagsChange, { minItems: 1, maxItems: 100 }) }),
  response: closed({
    newlyAllowed: Type.Integer({
      minimum: 0,
      description: 'Hosts on which the change newly allows devices, seen or not, or changes an option.',
    }),
    secondPerson: Type.Boolean({ description: 'The change requires a second approver.' }),
    prediction: Prediction,
  }),
})
