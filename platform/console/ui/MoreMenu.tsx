import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { copyText } from './copy.ts'
import { Icon } from './icons.tsx'
import { strings } from './strings.ts'

export interface MoreMenuProps {
  /** Name of the menu. Default: More. */
  label?: string
  /** Returns the request of this view or action as a shell command. */
  curl?: () => string
  children?: ReactNode
}

/** A menu with less frequent actions and the request as a curl command. */
export const MoreMenu = ({ label = strings.more, curl, children }: MoreMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" aria-label={label} title={label}>
        <Icon name="more" />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {children}
      {curl === undefined ? null : (
        <Menu.Item leftSection={<Icon name="copy" />} onClick={() => void copyText(curl(), strings.command)}>
          {strings.copyAsCurl}
        </Menu.Item>
      )}
    </Menu.Dropdown>
  </Menu>
)
