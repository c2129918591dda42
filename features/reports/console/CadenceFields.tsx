import { NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core'
import { Columns } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { ReportCadence } from '#features/contract.ts'
import { weekdays } from './labels.ts'
import { strings } from './strings.ts'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export interface CadenceFieldsProps {
  value: ReportCadence
  onChange: (value: ReportCadence) => void
  fault: (member: string) => string | undefined
}

/** Frequency, day, time and time zone of the runs. */
export const CadenceFields = ({ value, onChange, fault }: CadenceFieldsProps) => {
  const { time, timeZone } = value
  const every = (next: string) =>
    onChange(
      next === 'week'
        ? { every: 'week', weekday: 1, time, timeZone }
        : next === 'month'
          ? { every: 'month', day: 1, time, timeZone }
          : { every: 'day', time, timeZone },
    )
  return (
    <>
      <SegmentedControl
        aria-label={strings.frequency}
        data={[
          { value: 'day', label: strings.daily },
          { value: 'week', label: strings.weekly },
          { value: 'month', label: strings.monthly },
        ]}
        value={value.every}
        onChange={every}
      />
      <Columns template="repeat(auto-fit, minmax(160px, 1fr))" align="start">
        {value.every === 'week' ? (
          <Select
            label={strings.day}
            data={weekdays.map((label, index) => ({ value: String(index + 1), label }))}
            value={String(value.weekday ?? 1)}
            allowDeselect={false}
            onChange={(weekday) => onChange({ ...value, weekday: Number(weekday ?? 1) })}
            error={fault('weekday')}
          />
        ) : null}
        {value.every === 'month' ? (
          <NumberInput
            label={strings.dayOfTheMonth}
            description={strings.lastDayHelp}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            min={1}
            max={31}
            allowDecimal={false}
            value={value.day ?? 1}
            onChange={(day) => onChange({ ...value, day: Number(day) || 1 })}
            error={fault('day')}
          />
        ) : null}
        <TextInput
          label={strings.time}
          type="time"
          required
          withAsterisk={false}
          value={time}
          onChange={(event) => onChange({ ...value, time: event.currentTarget.value.slice(0, 5) })}
          error={fault('time')}
        />
        <Select
          label={strings.timeZone}
          data={zones.includes(timeZone) ? zones : [timeZone, ...zones]}
          value={timeZone}
          searchable
          allowDeselect={false}
          limit={100}
          nothingFoundMessage={strings.noZone}
          onChange={(zone) => onChange({ ...value, timeZone: zone ?? timeZone })}
          error={fault('timeZone')}
        />
      </Columns>
    </>
  )
}
