import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { Icon } from '../icons.tsx'
import { Columns, Panel, PressButton, Quiet, Row, Skeleton, Text } from '../layout/layout.tsx'
import { Time } from '../Time.tsx'
import { strings } from './strings.ts'

export interface ShownVersion {
  version: number
  summary: ReactNode
  by: string
  at: string
  changes: ReactNode
  /** Restores the version; null if it is current or the user may not. */
  goBack: (() => void) | null
}

export interface VersionHistoryProps<Version> {
  history: { data: { data: readonly Version[] } | undefined; error: unknown; refetch: () => unknown }
  /** Returns how to show a version. */
  shown: (version: Version, index: number) => ShownVersion
  /** Number of the open version, from the URL. */
  open: string | undefined
  setOpen: (version: string) => void
  page: number
  isLast: boolean
  /** Empty for the first page. */
  setPage: (page: string) => void
  /** Shown if there are no versions; null if there are some. */
  empty: ReactNode
  /** Label of the restore button, and the width of its column in px. */
  action: { title: string; width: number }
  note: ReactNode
  tools?: ReactNode
}

interface LineProps extends ShownVersion {
  action: VersionHistoryProps<never>['action']
  isOpen: boolean
  toggle: () => void
}

const Line = ({ version, summary, by, at, changes, goBack, action, isOpen, toggle }: LineProps) => (
  <li>
    <Columns template={`minmax(0, 1fr) 110px 60px ${action.width}px`} align="center" pad="0 12px">
      <PressButton
        style={{ display: 'flex', alignItems: 'center', gap: 8, minWidth: 0, minHeight: 36 }}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <Quiet num style={{ minWidth: 28, textAlign: 'right' }}>
          {version.toLocaleString('en')}
        </Quiet>
        <Text clip>{summary}</Text>
      </PressButton>
      <Text clip>
        <DeviceText value={by} />
      </Text>
      <Quiet small>
        <Time value={at} />
      </Quiet>
      {goBack === null ? (
        <span />
      ) : (
        <Button size="compact-xs" variant="default" onClick={goBack}>
          {action.title}
        </Button>
      )}
    </Columns>
    {isOpen ? (
      <Text as="div" pad="8px 16px 12px 40px" breaks style={{ background: 'var(--pc-raised)' }}>
        {changes}
      </Text>
    ) : null}
  </li>
)

/** Versions, newest first, with their changes and a button to restore them. */
export const VersionHistory = <Version,>(props: VersionHistoryProps<Version>) => {
  const { history, shown, open, setOpen, page, isLast, setPage, empty, action, note, tools } = props
  if (history.data === undefined)
    return history.error === null ? <Skeleton height={220} /> : <ErrorState query={history} inline />
  return (
    <>
      <ErrorState query={history} inline />
      {empty ?? (
        <>
          <Panel as="ul" gap={0} pad={0} lined small aria-label={strings.versions}>
            {history.data.data.map(shown).map((one) => {
              const isOpen = open === String(one.version)
              return (
                <Line
                  key={one.version}
                  {...one}
                  action={action}
                  isOpen={isOpen}
                  toggle={() => setOpen(isOpen ? '' : String(one.version))}
                />
              )
            })}
          </Panel>
          <Row gap={16} justify="space-between" wrap>
            {note}
            <Row wrap>
              {tools}
              <Button
                size="compact-sm"
                variant="default"
                disabled={page === 1}
                onClick={() => setPage(page === 2 ? '' : String(page - 1))}
              >
                {strings.newer}
              </Button>
              <Button size="compact-sm" variant="default" disabled={isLast} onClick={() => setPage(String(page + 1))}>
                {strings.older}
              </Button>
            </Row>
          </Row>
        </>
      )}
    </>
  )
}
