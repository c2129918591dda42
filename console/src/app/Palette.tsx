import { useMantineColorScheme } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { hostStateOf } from '@portcullis/features/agents/console/shared/host-state.ts'
import { type Agent, getAgents, getPeripherals, listViews, type Peripheral } from '@portcullis/features/contract.ts'
import { viewsKey } from '@portcullis/features/views/console/shared/view-address.ts'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { searchText } from '@portcullis/platform/console/lib/view-state.ts'
import { Icon, type IconName, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useRouter } from '@tanstack/react-router'
import { useDeferredValue, useEffect } from 'react'
import { matchesEntry, paletteEntries, viewEntries } from './palette-entries.ts'
import { strings } from './strings.ts'

const [store, palette] = createSpotlight()

const listId = 'palette-list'

/** Selects the first entry, so that Enter opens it. The library exports no function for this, only the attribute. */
const chooseFirst = (): void => {
  const [first, ...others] = document.querySelectorAll(`#${listId} [data-action]`)
  for (const other of others) other.removeAttribute('data-selected')
  first?.setAttribute('data-selected', 'true')
  store.setState({ ...store.getState(), selected: first === undefined ? -1 : 0 })
}

/** Searches hosts and devices. */
const useFound = (opened: boolean, query: string) => {
  const { session } = useServices()
  const search = useDeferredValue(query.trim())
  const isSearching = opened && search.length >= 2
  const hosts = useRead(['palette', 'agents', search], getAgents, {
    query: { GlobalSearch: search, PageSize: 6 },
    enabled: isSearching && session.may('fleet:read'),
  })
  const devices = useRead(['palette', 'peripherals', search], getPeripherals, {
    query: { globalSearch: search, PageSize: 6 },
    enabled: isSearching && session.may('fleet:read'),
  })
  // Results of an earlier text are not offered: Enter would open one of them.
  const isCurrent = isSearching && search === query.trim()
  return {
    isSearching: isSearching && (!isCurrent || hosts.isFetching || devices.isFetching),
    isCurrent,
    hosts,
    devices,
  }
}

/** Returns the pages, saved views and actions that match. */
const useEntries = (opened: boolean, query: string, goTo: (href: string) => void) => {
  const { session } = useServices()
  const { setColorScheme } = useMantineColorScheme()
  const views = useRead(viewsKey, listViews, { enabled: opened && session.may('self:read') })
  const entries: { id: string; label: string; words?: string; icon: IconName; run: () => void }[] = [
    ...[...paletteEntries, ...viewEntries(views.data?.data ?? [])]
      .filter(({ permission }) => session.may(permission))
      .map((entry) => ({ ...entry, run: () => goTo(entry.to) })),
    { id: 'light', label: strings.useLight, icon: 'sun', run: () => setColorScheme('light') },
    { id: 'dark', label: strings.useDark, icon: 'moon', run: () => setColorScheme('dark') },
    { id: 'auto', label: strings.useSystem, icon: 'system', run: () => setColorScheme('auto') },
    { id: 'out', label: strings.signOut, icon: 'logout', run: () => void session.signOut().catch(tellFailure) },
  ]
  return entries.filter((entry) => matchesEntry(query, entry))
}

interface FoundProps<T> {
  found: readonly T[]
  total: number
  query: string
  goTo: (href: string) => void
}

/** Opens the list with all results, if there are more than shown. */
const SeeAll = ({ shown, total, label, run }: { shown: number; total: number; label: string; run: () => void }) =>
  total <= shown ? null : <Spotlight.Action label={label} leftSection={<Icon name="external" />} onClick={run} />

const Hosts = ({ found, total, query, goTo }: FoundProps<Agent>) => (
  <Spotlight.ActionsGroup label={strings.foundHosts({ total })}>
    {found.map((agent) => (
      <Spotlight.Action
        key={agent.uuid}
        label={plainText(agent.hostIdentifier)}
        description={plainText(
          [hostStateOf(agent)[1], agent.localIpAddress, agent.hashtags].filter(Boolean).join(' · '),
        )}
        leftSection={<Icon name="agents" />}
        onClick={() => goTo(agentAddress(agent.uuid))}
      />
    ))}
    <SeeAll
      {...{ total, shown: found.length, label: strings.seeAllHosts({ total }) }}
      run={() => goTo(`/agents${searchText({ q: query })}`)}
    />
  </Spotlight.ActionsGroup>
)

const Devices = ({ found, total, query, goTo }: FoundProps<Peripheral>) => (
  <Spotlight.ActionsGroup label={strings.foundDevices({ total })}>
    {found.map((device) => (
      <Spotlight.Action
        key={`${device.uuid}|${device.deviceID}`}
        label={plainText(device.caption || device.guiPid || `${device.vid}:${device.pid}`)}
        description={plainText(
          [
            strings.foundDevice({
              vendor: device.guiVid,
              vid: device.vid,
              pid: device.pid,
              host: device.hostIdentifier,
            }),
            ...(device.serialNumber === '' ? [] : [strings.serial({ serial: device.serialNumber })]),
          ].join(' · '),
        )}
        leftSection={<Icon name={kindIcon(device.devIcon)} />}
        onClick={() => goTo(deviceAddress(device.uuid, device.deviceID))}
      />
    ))}
    <SeeAll
      {...{ total, shown: found.length, label: strings.seeAllDevices({ total }) }}
      run={() => goTo(`/peripherals${searchText({ q: query })}`)}
    />
  </Spotlight.ActionsGroup>
)

interface PaletteProps {
  opened: boolean
  close: () => void
  /** What was typed, from the moment the palette was asked for. */
  query: string
  setQuery: (query: string) => void
}

/** ⌘K: opens pages, runs actions, and searches hosts and devices. */
export const Palette = ({ opened, close, query, setQuery }: PaletteProps) => {
  const router = useRouter()
  useEffect(() => (opened ? palette.open() : palette.close()), [opened])

  const { isSearching, isCurrent, hosts, devices } = useFound(opened, query)
  const goTo = (href: string) => router.history.push(href)
  const shown = useEntries(opened, query, goTo)
  const foundHosts = isCurrent ? (hosts.data?.data ?? []) : []
  const foundDevices = isCurrent ? (devices.data?.data ?? []) : []
  const ids = [
    ...foundHosts.map(({ uuid }) => uuid),
    ...foundDevices.map(({ uuid, deviceID }) => `${uuid}|${deviceID}`),
    ...shown.map(({ id }) => id),
  ]
  // Results arrive after the first entry was selected: without this, Enter would open nothing or a later entry. A
  // selection made with the arrow keys stays.
  const content = ids.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the entries change
  useEffect(() => {
    if (opened && store.getState().selected <= 0) chooseFirst()
  }, [opened, content])

  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={() => {
        setQuery('')
        close()
      }}
      shortcut={null}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      maxHeight={420}
      lockScroll={false}
      transitionProps={{ duration: 60 }}
      attributes={{ content: { 'aria-label': strings.search } }}
    >
      <Spotlight.Search
        aria-label={strings.search}
        placeholder={strings.searchHint}
        leftSection={<Icon name="search" />}
        // Letters typed before are already in the field.
        onFocus={(event) => event.currentTarget.setSelectionRange(query.length, query.length)}
      />
      <Spotlight.ActionsList id={listId}>
        {foundHosts.length > 0 ? (
          <Hosts found={foundHosts} total={hosts.data?.recordsFiltered ?? 0} query={query.trim()} goTo={goTo} />
        ) : null}
        {foundDevices.length > 0 ? (
          <Devices found={foundDevices} total={devices.data?.recordsFiltered ?? 0} query={query.trim()} goTo={goTo} />
        ) : null}
        {shown.length > 0 ? (
          <Spotlight.ActionsGroup label={strings.pagesAndActions}>
            {shown.map(({ id, label, icon, run }) => (
              <Spotlight.Action key={id} label={label} leftSection={<Icon name={icon} />} onClick={run} />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {ids.length === 0 ? (
          <Spotlight.Empty>{isSearching ? strings.searching : strings.noResults}</Spotlight.Empty>
        ) : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
