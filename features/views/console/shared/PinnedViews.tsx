import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { useLocation } from '@tanstack/react-router'
import { listViews } from '#features/contract.ts'
import { viewAddress, viewsKey } from './view-address.ts'

/** Links to the pinned views of a page. */
export const PinnedViews = ({ page, className }: { page: string; className: string | undefined }) => {
  const { pathname, searchStr } = useLocation()
  const { data } = useRead(viewsKey, listViews, { staleTime: 60_000 })
  return (data?.data ?? [])
    .filter((one) => one.isPinned && (one.page === page || one.page.startsWith(`${page}/`)))
    .map((one) => {
      const href = viewAddress(one.page, one.search)
      return (
        <span key={one.id} className={className} data-here={href === `${pathname}${searchStr}` || undefined}>
          <PlainLink href={href}>
            <DeviceText value={one.name} />
          </PlainLink>
        </span>
      )
    })
}
