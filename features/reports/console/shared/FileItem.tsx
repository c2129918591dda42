import { Menu } from '@mantine/core'
import { Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'

export interface FileItemProps {
  title: string
  /** Purpose of the file. */
  hint: string
  onClick: () => void
}

/** A menu item that exports a file, with a line that says what the file is for. */
export const FileItem = ({ title, hint, onClick }: FileItemProps) => (
  <Menu.Item onClick={onClick} aria-label={title}>
    {title}
    <Quiet block tiny>
      {hint}
    </Quiet>
  </Menu.Item>
)
