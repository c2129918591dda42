import { Menu } from '@mantine/core'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { deleteView, pinView } from '#features/contract.ts'
import { viewAddress, viewsKey } from './shared/view-address.ts'
import { strings } from './strings.ts'
import { useViews } from './useViews.ts'
import classes from './ViewTabs.module.css'

/** The saved views of a list as tabs. Nothing, if the page has none. */
export const ViewTabs = ({ view }: { view: View }) => {
  const { api, queries } = useServices()
  const session = useSession()
  const { page, current, views, open } = useViews(view)
  if (views.length === 0) return null
  const isAdministrator = session.phase === 'in' && session.profile.account.userProfile === 10
  const remove = ({ id, name, isShared }: { id: string; name: string; isShared: boolean }) =>
    confirm({
      title: strings.deleteTitle,
      names: [name],
      kind: strings.viewCount,
      consequence: isShared ? strings.deleteShared : strings.deletePrivate,
      run: () => api.call(deleteView, { params: { id } }),
      done: strings.viewDeleted({ name }),
      reread: () => queries.invalidateQueries({ queryKey: viewsKey }),
    })
  const pin = ({ id, isPinned }: { id: string; isPinned: boolean }) =>
    void api
      .call(pinView, { params: { id }, body: { isPinned: !isPinned } })
      .then(() => queries.invalidateQueries({ queryKey: viewsKey }), tellFailure)
  return (
    <Stack gap={6}>
      <Row as="nav" gap={4} wrap small aria-label={strings.savedViews}>
        <span className={classes.tab} data-here={current === '' || undefined}>
          <PlainLink href={page}>{strings.allRows}</PlainLink>
        </span>
        {views.map((one) => (
          <span
            key={one.id}
            className={classes.tab}
            data-here={one.id === open?.id || undefined}
            title={
              !one.isShared
                ? undefined
                : one.owner === ''
                  ? strings.sharedByNobody
                  : strings.sharedBy({ owner: one.owner })
            }
          >
            <PlainLink href={viewAddress(page, one.text)}>
              {one.isShared ? <Icon name="users" size={12} /> : null} <DeviceText value={one.name} />
            </PlainLink>
          </span>
        ))}
        {open === undefined ? null : (
          <MoreMenu label={strings.viewMenu({ name: open.name })}>
            <Menu.Item onClick={() => pin(open)}>{open.isPinned ? strings.unpin : strings.pin}</Menu.Item>
            {open.isOwn || isAdministrator ? (
              <Menu.Item onClick={() => remove(open)}>{strings.deleteView}</Menu.Item>
            ) : null}
          </MoreMenu>
        )}
      </Row>
      {open === undefined || open.missing.length === 0 ? null : (
        <Note role="status">
          {strings.missingParts({ count: open.missing.length, names: open.missing.join(', ') })}
        </Note>
      )}
    </Stack>
  )
}
