import { Button } from '@mantine/core'
import { strings } from './strings.ts'

export const Undo = ({ message, undo }: { message: string; undo: () => void }) => (
  <span style={{ display: 'flex', alignItems: 'center', justifyContent: 'space-between', gap: 12 }}>
    {message}
    <Button size="compact-xs" variant="default" onClick={undo}>
      {strings.undo}
    </Button>
  </span>
)
