import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { endsOf, rangeAt, relativeRanges } from '../../lib/range.ts'
import { useServices } from '../../lib/services.tsx'
import { Row, Stack } from '../layout/layout.tsx'
import { type EditorProps, fieldOfInstant, instantOfField, rangeLabels } from './filter.ts'
import { strings } from './strings.ts'

/** Returns the fault of a range whose ends are local date fields, or null. */
export const rangeFault = (from: string, to: string): string | null => {
  const [begins, ends] = [instantOfField(from), instantOfField(to)]
  return begins !== null && ends !== null && begins > ends ? strings.endsBeforeItBegins : null
}

/** The editor of a range of time: ranges relative to now, and two ends. Only a valid range is applied. */
export const RangeEditor = ({ value, change, close }: Pick<EditorProps, 'value' | 'change' | 'close'>) => {
  const { clock } = useServices()
  const [first, last] = endsOf(rangeAt(value ?? '', clock.now()))
  const [from, setFrom] = useState(fieldOfInstant(first))
  const [to, setTo] = useState(fieldOfInstant(last))
  const [isTouched, setTouched] = useState(false)
  const fault = rangeFault(from, to)
  const pick = (range: string | null) => {
    change(range)
    close()
  }
  return (
    <Stack gap={8} style={{ maxWidth: 300 }}>
      <Row gap={4} wrap role="group" aria-label={strings.relativeToNow}>
        {relativeRanges.map((name, index) => (
          <Button
            key={name}
            size="compact-xs"
            variant={value === name ? 'filled' : 'default'}
            aria-pressed={value === name}
            data-autofocus={index === 0 || undefined}
            onClick={() => pick(name)}
          >
            {rangeLabels[name]}
          </Button>
        ))}
      </Row>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setTouched(true)
          if (fault !== null) return
          const [begins, ends] = [instantOfField(from) ?? '', instantOfField(to) ?? '']
          pick(begins === '' && ends === '' ? null : `${begins}..${ends}`)
        }}
      >
        <Stack gap={8}>
          <TextInput
            size="xs"
            type="datetime-local"
            label={strings.from}
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            size="xs"
            type="datetime-local"
            label={strings.until}
            value={to}
            error={isTouched ? fault : null}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          <Row>
            <Button size="xs" type="submit">
              {strings.apply}
            </Button>
          </Row>
        </Stack>
      </form>
    </Stack>
  )
}
