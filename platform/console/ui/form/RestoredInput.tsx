import { Button } from '@mantine/core'
import { Notice } from '../layout/layout.tsx'
import { Time } from '../Time.tsx'
import { strings } from './strings.ts'

/** Says that a form shows what the user typed earlier and did not save. */
export const RestoredInput = ({ at, discard }: { at: string; discard: () => void }) => (
  <Notice tone="accent" role="status" wrap gap={8}>
    <span>{strings.restoredInput({ time: <Time key="time" value={at} form="ago" /> })}</span>
    <Button size="compact-sm" variant="subtle" onClick={discard}>
      {strings.discardInput}
    </Button>
  </Notice>
)
