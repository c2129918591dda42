import { Checkbox, NativeSelect } from '@mantine/core'
import { type NotificationGroup, severityNames } from '@portcullis/contract'
import { TagsField } from '../../ui/form/TagsField.tsx'
import text from '../../ui/text.module.css'
import { sendsEvents } from './draft.ts'
import classes from './notifications.module.css'
import type { SectionProps } from './section.ts'

/** Of what a group tells: switches, severity, tags. */
export const WhatFields = ({ group, entry: { draft, enter, errorOf } }: SectionProps) => (
  <section className={classes.section} aria-label="What">
    <h2>What it tells of</h2>
    <div className={classes.switches}>
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
    </div>
    {draft.on.length === 0 ? <p className={text.note}>Nothing is chosen: it tells nobody anything.</p> : null}
    <NativeSelect
      name="minimumSeverity"
      label="Severity at least"
      description={
        group.kind === 'SystemHealth'
          ? 'A part in state Warning counts as severity Warning, one in state Error as severity Error.'
          : undefined
      }
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
        label="Only hosts with one of these tags"
        description={`Empty: all hosts.${sendsEvents(group) ? ' With tags, events of no host are left out, too.' : ''}`}
        error={errorOf('hashtags')}
        value={draft.hashtags}
        onChange={(hashtags) => enter({ hashtags }, 'hashtags')}
      />
    )}
  </section>
)
