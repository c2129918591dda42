import { Popover } from '@mantine/core'
import { lazily, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { type ReactNode, useState } from 'react'
import type { TagFormProps } from './TagForm.tsx'

const TagForm = lazily(async () => (await import('./TagForm.tsx')).TagForm)

export interface TagEditorProps extends Omit<TagFormProps, 'close'> {
  /** The button that opens the editor. */
  children: (open: () => void) => ReactNode
}

/** Adds and removes tags, with undo for ten seconds. */
export const TagEditor = ({ children, ...rest }: TagEditorProps) => {
  useIdlePreload(TagForm)
  const [opened, setOpened] = useState(false)
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      width={320}
      trapFocus
      withinPortal
      withRoles={false}
    >
      <Popover.Target>
        <span>{children(() => setOpened(true))}</span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={strings.editTags}>
        {opened ? <TagForm {...rest} close={() => setOpened(false)} /> : null}
      </Popover.Dropdown>
    </Popover>
  )
}
