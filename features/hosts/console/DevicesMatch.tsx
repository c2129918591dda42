import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Link } from '@tanstack/react-router'
import { getPeripherals } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Says how many devices match a search that no host matches. */
export const DevicesMatch = ({ search }: { search: string }) => {
  const found = useRead(['devices-match', search], getPeripherals, { query: { globalSearch: search, PageSize: 1 } })
  const count = found.data?.recordsFiltered ?? 0
  if (count === 0) return null
  return (
    <p>
      {strings.devicesMatch({
        count,
        search,
        devices: (text) => (
          <Link to="/peripherals" search={{ q: search }}>
            {text}
          </Link>
        ),
        hosts: (text) => (
          <Link to="/agents" search={{ Model: search }}>
            {text}
          </Link>
        ),
      })}
    </p>
  )
}
