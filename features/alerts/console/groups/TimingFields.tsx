import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import { Panel, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { groupLimits, severityNames } from '#features/contract.ts'
import type { Draft } from './draft.ts'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'

/** Returns the time zones of the browser and the configured one. */
const zones = (set: string): string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), set])]

/** The timing of a group: batches and quiet hours. */
export const WhenFields = ({ entry: { draft, enter, errorOf } }: SectionProps) => {
  const { quiet } = draft
  const change = (part: Partial<Draft['quiet']>, name: string) => enter({ quiet: { ...quiet, ...part } }, name)
  return (
    <Panel aria-label={strings.timing}>
      <h2>{strings.timing}</h2>
      <NumberInput
        name="digestMinutes"
        label={strings.batchMinutes}
        description={strings.batchHelp}
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
        description={strings.quietHelp}
        checked={draft.isQuiet}
        onChange={(event) => enter({ isQuiet: event.currentTarget.checked }, 'quietHours.from', 'quietHours.to')}
      />
      {draft.isQuiet ? (
        <Row wrap align="start" gap={12}>
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
            label={strings.passSeverity}
            data={[
              { value: '', label: strings.nothing },
              ...severityNames.map((name) => ({ value: name, label: strings.orWorse({ name }) })),
            ]}
            value={quiet.passSeverity}
            onChange={(event) => change({ passSeverity: event.currentTarget.value }, 'quietHours.passSeverity')}
          />
        </Row>
      ) : null}
    </Panel>
  )
}
