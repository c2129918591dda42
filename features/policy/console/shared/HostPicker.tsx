import { Select } from '@mantine/core'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { getAgents } from '#features/contract.ts'
import { strings } from './strings.ts'

export interface HostPickerProps {
  label: string
  /** uuid of the chosen host; empty if none. */
  value: string
  onChange: (uuid: string) => void
  error?: string | undefined
  clearable?: boolean
}

/** Chooses one host. The server searches. */
export const HostPicker = ({ label, value, onChange, error, clearable = false }: HostPickerProps) => {
  const [typed, setTyped] = useState('')
  const search = useDeferredValue(typed.trim())
  const chosen = useRead(['host-picker', 'chosen', value], getAgents, {
    query: { Uuid: value, PageSize: 1 },
    enabled: value !== '',
  })
  const name = chosen.data?.data[0]?.hostIdentifier
  const found = useRead(['host-picker', search], getAgents, {
    query: {
      ...(search === '' || search === name ? {} : { GlobalSearch: search }),
      SortBy: 'hostIdentifier_asc',
      PageSize: 12,
    },
    placeholderData: keepPreviousData,
  })
  const options = new Map(
    [...(chosen.data?.data ?? []), ...(found.data?.data ?? [])].map((agent) => [agent.uuid, agent.hostIdentifier]),
  )
  return (
    <Select
      label={label}
      size="xs"
      searchable
      clearable={clearable}
      placeholder={strings.findHost}
      nothingFoundMessage={found.isFetching ? strings.searching : strings.noSuchHost}
      data={[...options].map(([uuid, host]) => ({ value: uuid, label: plainText(host) }))}
      // The server has already filtered.
      filter={({ options }) => options}
      value={value === '' ? null : value}
      onChange={(uuid) => onChange(uuid ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
      error={error}
      comboboxProps={{ withinPortal: true }}
      maxDropdownHeight={220}
    />
  )
}
