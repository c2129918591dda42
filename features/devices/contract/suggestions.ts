import { suggestionKinds } from '@portcullis/platform/contract/filters.ts'
import { closed, operation } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Maximum number of suggestions in a response. */
export const mostSuggestions = 12
/** Maximum number of models that suggestions come from, most frequent first. */
export const mostSuggestedFrom = 2_000

export const Suggestion = closed({
  value: Type.String({ description: 'Value for the filter.' }),
  label: Type.String({ description: 'Text that explains the value, such as the product of a VID:PID. Can be empty.' }),
  devices: Type.Integer({ minimum: 0, description: 'Number of attached devices with this value.' }),
})
export type Suggestion = Static<typeof Suggestion>

export const suggestFilterValues = operation({
  id: 'suggestFilterValues',
  method: 'GET',
  path: '/prime/webui/peripherals/suggestions',
  tag: 'Peripherals',
  summary: 'Suggests values for filters of devices while a person types',
  description: `Returns at most ${mostSuggestions} values of the known models that contain every word of \`text\`, ignoring case. The values with the most attached devices come first. If more than ${mostSuggestedFrom.toLocaleString('en')} models match, the values are those of the models with the most attached devices.`,
  permission: 'fleet:read',
  query: closed({
    kind: Type.Enum(suggestionKinds, {
      description:
        '`vendor` and `product`: names. `model`: `VID:PID` with vendor and product. `vid` and `pid`: four hex digits with their name.',
    }),
    text: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Text typed so far. Without it, the most frequent values are returned.',
      }),
    ),
  }),
  response: closed({ data: Type.Array(Suggestion, { maxItems: mostSuggestions }) }),
})
