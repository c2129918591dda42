import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import { groupLimits, severityNames } from '@portcullis/contract'
import type { Draft } from './draft.ts'
import classes from './notifications.module.css'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'

/** Zones that the browser knows, and the one that is set. */
const zones = (set: string): string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), set])]

/** When people are told: gathered, and not at night. */
export const WhenFields = ({ entry: { draft, enter, errorOf } }: SectionProps) => {
  const { quiet } = draft
  const change = (part: Partial<Draft['quiet']>, name: string) => enter({ quiet: { ...quiet, ...part } }, name)
  return (
    <section className={classes.section} aria-label={strings.when}>
      <h2>{strings.whenPeopleAreTold}</h2>
      <NumberInput
        name="digestMinutes"
        label={strings.gatherForMinutes}
        description={strings.mailAndWebhookSendWhatCame}
        error={errorOf('digestMinutes')}
        maw={280}
        min={0}
        max={groupLimits.digestMinutes}
        allowDecimal={false}
        clampBehavior="none"
        value={draft.digestMinutes}
        onChange={(minutes) => enter({ digestMinutes: String(minutes) }, 'digestMinutes')}
      />
      <Switch
        label={strings.quietHours}
        description={strings.mailAndWebhookWaitForTheir}
        checked={draft.isQuiet}
        onChange={(event) => enter({ isQuiet: event.currentTarget.checked }, 'quietHours.from', 'quietHours.to')}
      />
      {draft.isQuiet ? (
        <div className={classes.inline}>
          <TextInput
            type="time"
            name="quietHours.from"
            label={strings.from}
            error={errorOf('quietHours.from')}
            value={quiet.from}
            onChange={(event) => change({ from: event.currentTarget.value }, 'quietHours.from')}
          />
          <TextInput
            type="time"
            name="quietHours.to"
            label={strings.to}
            error={errorOf('quietHours.to')}
            value={quiet.to}
            onChange={(event) => change({ to: event.currentTarget.value }, 'quietHours.to')}
          />
          <NativeSelect
            name="quietHours.timeZone"
            label={strings.timeZone}
            error={errorOf('quietHours.timeZone')}
            data={zones(quiet.timeZone)}
            value={quiet.timeZone}
            onChange={(event) => change({ timeZone: event.currentTarget.value }, 'quietHours.timeZone')}
          />
          <NativeSelect
            name="quietHours.passSeverity"
            label={strings.toldAllTheSame}
            data={[
              { value: '', label: strings.nothing },
              ...severityNames.map((name) => ({ value: name, label: strings.nameOrWorse({ name }) })),
            ]}
            value={quiet.passSeverity}
            onChange={(event) => change({ passSeverity: event.currentTarget.value }, 'quietHours.passSeverity')}
          />
        </div>
      ) : null}
    </section>
  )
}
