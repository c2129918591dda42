import { Avatar, Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { profileNames } from '@portcullis/features/contract.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, type IconName } from '@portcullis/platform/console/ui/icons.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { helpAddress } from './places.ts'
import { strings } from './strings.ts'
import classes from './UserMenu.module.css'

const schemes: { value: 'light' | 'dark' | 'auto'; title: string; icon: IconName }[] = [
  { value: 'light', title: strings.light, icon: 'sun' },
  { value: 'dark', title: strings.dark, icon: 'moon' },
  { value: 'auto', title: strings.systemColumn, icon: 'system' },
]

export const UserMenu = ({ openKeys }: { openKeys: () => void }) => {
  const { session } = useServices()
  const state = useSession()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  if (state.phase !== 'in') return null
  const { account } = state.profile
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.user}>
          <VisuallyHidden>{strings.account} </VisuallyHidden>
          <Avatar src={account.image || null} size={24} name={account.userName} aria-hidden />
          <span className={classes.name}>
            <DeviceText value={account.userName} />
          </span>
          <Icon name="down" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{profileNames[account.userProfile]}</Menu.Label>
        <Menu.Item leftSection={<Icon name="user" />} onClick={() => void navigate({ to: '/settings/profile' })}>
          {strings.myProfile}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="session" />} onClick={() => void navigate({ to: '/settings/sessions' })}>
          {strings.sessions}
        </Menu.Item>
        <Menu.Label>{strings.theme}</Menu.Label>
        {schemes.map(({ value, title, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} />}
            rightSection={colorScheme === value ? <Icon name="check" title={strings.selected} /> : null}
            closeMenuOnClick={false}
            onClick={() => setColorScheme(value)}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {/* The bar of a phone has no room for it. */}
        <Menu.Item
          hiddenFrom="sm"
          component="a"
          href={helpAddress(pathname)}
          target="_blank"
          rel="noreferrer"
          leftSection={<Icon name="book" />}
        >
          {strings.helpOnThisPage}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="keyboard" />} rightSection={<kbd>?</kbd>} onClick={openKeys}>
          {strings.keyboardShortcuts}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => void session.signOut().catch(tellFailure)}>
          {strings.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
