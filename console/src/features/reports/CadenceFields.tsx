import { NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core'
import type { ReportCadence } from '@portcullis/contract'
import { weekdays } from './labels.ts'
import classes from './reports.module.css'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export interface CadenceFieldsProps {
  value: ReportCadence
  onChange: (value: ReportCadence) => void
  fault: (member: string) => string | undefined
}

/** Day, time and zone of the runs. */
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
        aria-label="How often"
        data={[
          { value: 'day', label: 'Daily' },
          { value: 'week', label: 'Weekly' },
          { value: 'month', label: 'Monthly' },
        ]}
        value={value.every}
        onChange={every}
      />
      <div className={classes.line}>
        {value.every === 'week' ? (
          <Select
            label="Day"
            data={weekdays.map((label, index) => ({ value: String(index + 1), label }))}
            value={String(value.weekday ?? 1)}
            allowDeselect={false}
            onChange={(weekday) => onChange({ ...value, weekday: Number(weekday ?? 1) })}
            error={fault('weekday')}
          />
        ) : null}
        {value.every === 'month' ? (
          <NumberInput
            label="Day of the month"
            description="31 is the last day"
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
          label="At"
          type="time"
          required
          withAsterisk={false}
          value={time}
          onChange={(event) => onChange({ ...value, time: event.currentTarget.value.slice(0, 5) })}
          error={fault('time')}
        />
        <Select
          label="Time zone"
          data={zones.includes(timeZone) ? zones : [timeZone, ...zones]}
          value={timeZone}
          searchable
          allowDeselect={false}
          limit={100}
          nothingFoundMessage="No zone has this in its name"
          onChange={(zone) => onChange({ ...value, timeZone: zone ?? timeZone })}
          error={fault('timeZone')}
        />
      </div>
    </>
  )
}
