import { ActionIcon } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import { Icon } from './icons.tsx'
import { Row } from './layout/layout.tsx'
import classes from './SidePanel.module.css'
import { strings } from './strings.ts'

export interface SidePanelProps {
  /** Name of the open item, for screen readers. */
  label: string
  /** Address of its full page, if it has one. */
  fullPage?: string
  close: () => void
  /** Uses most of the page, for content with two columns. */
  isWide?: boolean
  children: ReactNode
}

/** Whether the content is in a drawer, not on a full page. */
const InPanel = createContext(false)

/**
 * The drawer of a row. It overlays the right of the list, so that no row moves, and the list stays usable: `j` and `k` move
 * through it while the drawer is open.
 */
export const SidePanel = ({ label, fullPage, close, isWide = false, children }: SidePanelProps) => {
  const router = useRouter()
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    // A form marks its first field with `data-autofocus`.
    const first = panel.current?.querySelector<HTMLElement>('[data-autofocus]') ?? panel.current
    first?.focus({ preventScroll: true })
    return () => {
      // If the focus was inside, return it to where it was before.
      if (document.activeElement !== document.body) return
      const from = before instanceof HTMLElement && before !== document.body && before.isConnected ? before : null
      // A click on a row focuses a cell, but the grid handles the keys.
      const back = from?.closest<HTMLElement>('[role="grid"]') ?? from ?? document.getElementById('content')
      back?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <aside ref={panel} className={classes.panel} data-wide={isWide || undefined} aria-label={label} tabIndex={-1}>
      <div className={classes.tools}>
        {fullPage === undefined ? null : (
          <ActionIcon
            component="a"
            href={fullPage}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
              event.preventDefault()
              router.history.push(fullPage)
            }}
            variant="subtle"
            color="gray"
            aria-label={strings.openFullPage}
            title={strings.openFullPage}
          >
            <Icon name="external" />
          </ActionIcon>
        )}
        <ActionIcon
          variant="subtle"
          color="gray"
          onClick={close}
          aria-label={strings.close}
          title={strings.closeWithKey}
        >
          <Icon name="close" />
        </ActionIcon>
      </div>
      <InPanel value={true}>{children}</InPanel>
    </aside>
  )
}

/** The head of an item: title and menu. In a drawer, it is clear of its tools. */
export const SidePanelHead = ({ children }: { children: ReactNode }) => (
  <Row as="header" align="start" pad={useContext(InPanel) ? '12px 76px 8px 16px' : '12px 16px 8px'}>
    {children}
  </Row>
)
