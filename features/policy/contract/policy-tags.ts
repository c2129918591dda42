import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'
import { Prediction } from './prediction.ts'

/** A draft of a change of the tags of hosts. */
export const HostTagsChange = closed({
  effect: Type.Enum(['add', 'remove']),
  hashtags: Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 100 }),
  uuids: nullable(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100_000 }), {
    description:
      'UUIDs of the hosts to tag or untag. `null`: all hosts with one of the tags, because the tags are deleted.',
  }),
})

export const previewTags = operation({
  id: 'previewTags',
  method: 'POST',
  path: '/prime/webui/policy/tags/preview',
  tag: 'Policy',
  summary: 'Previews a change of the tags of hosts',
  description:
    'Tags decide which rules apply to a host. The preview evaluates all changes together and stores nothing.',
  permission: 'fleet:read',
  heavy: 'preview',
  body: closed({ changes: Type.Array(HostTagsChange, { minItems: 1, maxItems: 100 }) }),
  response: closed({
    newlyAllowed: Type.Integer({
      minimum: 0,
      description:
        'Number of hosts on which the change newly allows devices (even if none has been seen) or changes an option.',
    }),
    secondPerson: Type.Boolean({ description: 'True if the change requires a second approver.' }),
    prediction: Prediction,
  }),
})
