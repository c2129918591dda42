import { Checkbox, NativeSelect } from '@mantine/core'
import { Columns, Note, Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type NotificationGroup, severityNames } from '#features/contract.ts'
import { TagsField } from '#features/tags/console/shared/TagsField.tsx'
import { sendsEvents } from './draft.ts'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'

/** The triggers of a group: kinds of alerts, severity and tags. */
export const WhatFields = ({ group, entry: { draft, enter, errorOf } }: SectionProps) => (
  <Panel aria-label={strings.triggers}>
    <h2>{strings.triggers}</h2>
    <Columns template="repeat(auto-fill, minmax(200px, 1fr))" gap="8px 16px">
      {group.notifications.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={draft.on.includes(id)}
          onChange={(event) => {
            const { checked } = event.currentTarget
            enter({ on: checked ? [...draft.on, id] : draft.on.filter((one) => one !== id) })
          }}
        />
      ))}
    </Columns>
    {draft.on.length === 0 ? <Note>{strings.noTriggers}</Note> : null}
    <NativeSelect
      name="minimumSeverity"
      label={strings.minimumSeverity}
      description={group.kind === 'SystemHealth' ? strings.severityHelp : undefined}
      maw={280}
      data={[...severityNames]}
      value={draft.minimumSeverity}
      onChange={(event) =>
        enter({ minimumSeverity: event.currentTarget.value as NotificationGroup['minimumSeverity'] })
      }
    />
    {group.kind === 'SystemHealth' ? null : (
      <TagsField
        name="hashtags"
        label={strings.tags}
        description={sendsEvents(group) ? strings.tagsEventsHelp : strings.tagsHelp}
        error={errorOf('hashtags')}
        value={draft.hashtags}
        onChange={(hashtags) => enter({ hashtags }, 'hashtags')}
      />
    )}
  </Panel>
)
