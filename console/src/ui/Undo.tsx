import { Button } from '@mantine/core'

export const Undo = ({ message, undo }: { message: string; undo: () => void }) => (
  <span style={{ display: 'flex', alignItems: 'center', justifyContent: 'space-between', gap: 12 }}>
    {message}
    <Button size="compact-xs" variant="default" onClick={undo}>
      Undo
    </Button>
  </span>
)
