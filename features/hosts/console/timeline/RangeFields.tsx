import { Button, TextInput } from '@mantine/core'
import { Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { inputTime, inputValue, isReversed, type PresetName, presetOf, presetsAt, type Range } from './range.ts'
import { strings } from './strings.ts'

const names: Record<PresetName, string> = {
  day: strings.lastDay,
  today: strings.today,
  yesterday: strings.yesterday,
  week: strings.week,
  month: strings.month,
}

/** Chooses a range of time: one click for the usual ones, or two times. */
export const RangeFields = ({ range, now, set }: { range: Range; now: number; set: (range: Range) => void }) => {
  const chosen = presetOf(range, now)
  return (
    <Row wrap gap="6px 12px" role="group" aria-label={strings.range}>
      <Row wrap gap={4}>
        {(Object.keys(names) as PresetName[]).map((name) => (
          <Button
            key={name}
            size="compact-xs"
            variant={chosen === name ? 'light' : 'subtle'}
            aria-pressed={chosen === name}
            onClick={() => set(presetsAt(now)[name])}
          >
            {names[name]}
          </Button>
        ))}
      </Row>
      <Row gap={6} wrap>
        <TextInput
          type="datetime-local"
          size="xs"
          aria-label={strings.from}
          value={inputValue(range.from)}
          onChange={({ currentTarget }) => set({ ...range, from: inputTime(currentTarget.value) })}
        />
        <Text quiet aria-hidden="true">
          –
        </Text>
        <TextInput
          type="datetime-local"
          size="xs"
          aria-label={strings.until}
          value={inputValue(range.to)}
          error={isReversed(range, now) ? strings.reversed : undefined}
          onChange={({ currentTarget }) => set({ ...range, to: inputTime(currentTarget.value) })}
        />
      </Row>
    </Row>
  )
}
