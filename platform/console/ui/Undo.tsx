import { Button } from '@mantine/core'
import { strings } from './strings.ts'

export const Undo = ({ message, undo }: { message: string; undo: () => void }) => (
  <span style={{ display: 'flex', alignItems: 'center', justifyContent: 'space-between', gap: 12 }}>
    <span style={{ minWidth: 0, whiteSpace: 'normal', overflowWrap: 'anywhere' }}>{message}</span>
    <Button size="compact-xs" variant="default" style={{ flexShrink: 0 }} onClick={undo}>
      {strings.undo}
    </Button>
  </span>
)
