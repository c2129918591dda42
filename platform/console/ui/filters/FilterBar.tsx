import { Button, CloseButton, Menu, Popover, TextInput } from '@mantine/core'
import { type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import type { Choices } from '../../../contract/filters.ts'
import { DeviceText } from '../DeviceText.tsx'
import { Icon } from '../icons.tsx'
import { Row } from '../layout/layout.tsx'
import { lazily, useIdlePreload } from '../lazily.tsx'
import { useKeys } from '../useKeys.ts'
import type { View } from '../useView.ts'
import classes from './FilterBar.module.css'
import { changeOf, type Filter, filterText, setValueOf } from './filter.ts'
import { SavedViews } from './saved-views.ts'
import { strings } from './strings.ts'
import { useChoices } from './useChoices.ts'

const QueryField = lazily(async () => (await import('./QueryField.tsx')).QueryField)
const FilterEditor = lazily(async () => (await import('./FilterEditor.tsx')).FilterEditor)

// The search starts after this pause in typing, not for every letter.
const typingPause = 200

const SearchField = ({ view, placeholder }: { view: View; placeholder: string }) => {
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(view.state.search)
  useEffect(() => setText(view.state.search), [view.state.search])
  useEffect(() => {
    if (text === view.state.search) return
    const timer = setTimeout(() => view.set({ search: text }, { replace: true }), typingPause)
    return () => clearTimeout(timer)
  }, [text, view])
  useKeys([{ keys: '/', description: strings.searchList, run: () => input.current?.focus() }])
  return (
    <TextInput
      ref={input}
      size="xs"
      className={classes.search}
      aria-label={placeholder}
      placeholder={placeholder}
      leftSection={<Icon name="search" size={14} />}
      rightSection={
        text === '' ? (
          <kbd className={classes.key}>/</kbd>
        ) : (
          <CloseButton size="xs" aria-label={strings.clearSearch} onClick={() => setText('')} />
        )
      }
      value={text}
      maxLength={256}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur()
      }}
    />
  )
}

interface ChipProps {
  filter: Filter
  value: string | undefined
  opened: boolean
  setOpened: (opened: boolean) => void
  change: (value: string | null) => void
}

const ChosenName = ({ kind, value }: { kind: Choices; value: string }) => {
  const { data } = useChoices(kind, value)
  return <DeviceText value={data?.find((one) => one.value === value)?.name ?? value} />
}

const ChipValue = ({ filter, value }: { filter: Filter; value: string }) =>
  filter.choices === undefined ? filterText(filter, value) : <ChosenName kind={filter.choices} value={value} />

const Chip = ({ filter, value, opened, setOpened, change }: ChipProps) => (
  <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus withRoles={false}>
    <Popover.Target>
      <span className={classes.chip} data-empty={value === undefined || undefined}>
        <button type="button" className={classes.chipText} onClick={() => setOpened(!opened)} aria-expanded={opened}>
          {filter.label}
          {value === undefined ? '' : ': '}
          {value === undefined ? null : (
            <strong>
              <ChipValue filter={filter} value={value} />
            </strong>
          )}
        </button>
        {value === undefined ? null : (
          <button
            type="button"
            className={classes.chipClose}
            onClick={() => change(null)}
            aria-label={strings.removeFilter({ label: filter.label })}
          >
            <Icon name="close" size={11} />
          </button>
        )}
      </span>
    </Popover.Target>
    <Popover.Dropdown className={classes.editor} role="dialog" aria-label={filter.label}>
      <FilterEditor filter={filter} value={value} change={change} close={() => setOpened(false)} />
    </Popover.Dropdown>
  </Popover>
)

export interface FilterBarProps {
  view: View
  filters: readonly Filter[]
  /** The fields that the search covers; absent if there is no search. */
  searchPlaceholder?: string
  /** Checks a query on the server. Absent: the list has no query. */
  check?: (text: string) => Promise<unknown>
  /** Tools at the right, such as columns. */
  children?: ReactNode
}

/** Search and filters of a list. Active filters are chips that open their editor; a menu adds the others. */
export const FilterBar = ({ view, filters, searchPlaceholder, check, children }: FilterBarProps) => {
  useIdlePreload(FilterEditor, QueryField)
  const [opened, setOpened] = useState<string | null>(null)
  const set = view.state.filters
  const shown = filters.filter((filter) => setValueOf(filter, set) !== undefined || opened === filter.name)
  const others = filters.filter((filter) => !shown.includes(filter))
  const saved = useContext(SavedViews)
  const [hasQuery, setHasQuery] = useState(false)
  const showsQuery = hasQuery || view.state.query !== ''
  return (
    <>
      {saved === null ? null : <saved.Tabs view={view} />}
      <Row as="search" wrap gap={6}>
        {searchPlaceholder === undefined ? null : <SearchField view={view} placeholder={searchPlaceholder} />}
        {shown.map((filter) => (
          <Chip
            key={filter.name}
            filter={filter}
            value={setValueOf(filter, set)}
            opened={opened === filter.name}
            setOpened={(next) => setOpened(next ? filter.name : null)}
            // Setting or removing a filter adds a history entry; typing does not.
            change={(value) =>
              view.set(
                { filters: changeOf(filter, value) },
                { replace: setValueOf(filter, set) !== undefined && value !== undefined },
              )
            }
          />
        ))}
        {others.length > 0 ? (
          // The filter editor takes the focus; the closing menu must not take it back.
          <Menu position="bottom-start" returnFocus={false}>
            <Menu.Target>
              <Button variant="subtle" size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
                {strings.addFilter}
              </Button>
            </Menu.Target>
            <Menu.Dropdown mah={360} style={{ overflow: 'auto' }}>
              {others.map(({ name, label }) => (
                <Menu.Item key={name} onClick={() => setTimeout(() => setOpened(name), 0)}>
                  {label}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        ) : null}
        {check === undefined || showsQuery ? null : (
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setHasQuery(true)}
          >
            {strings.query}
          </Button>
        )}
        {shown.length > 1 ? (
          <Button variant="subtle" size="compact-sm" onClick={view.clearFilters}>
            {strings.clearFilters}
          </Button>
        ) : null}
        {saved === null ? null : <saved.Save view={view} />}
        <Row gap={4} end>
          {children}
        </Row>
      </Row>
      {check !== undefined && showsQuery ? (
        <QueryField
          view={view}
          filters={filters}
          check={check}
          close={() => {
            setHasQuery(false)
            view.set({ query: '' })
          }}
        />
      ) : null}
    </>
  )
}
