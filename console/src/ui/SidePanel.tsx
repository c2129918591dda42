import { ActionIcon } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './icons.tsx'
import classes from './SidePanel.module.css'
import { strings } from './strings.ts'

export interface SidePanelProps {
  /** Name of the open thing, for screen readers. */
  label: string
  /** Address of its full page, where it has one. */
  fullPage?: string
  close: () => void
  /** Further tools beside the close button. */
  tools?: ReactNode
  children: ReactNode
}

/**
 * The drawer of a row: lies over the right of the list, so that no row moves, and leaves the list usable: `j` and `k`
 * walk through it with the drawer open.
 */
export const SidePanel = ({ label, fullPage, close, tools, children }: SidePanelProps) => {
  const router = useRouter()
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    // A form says with `data-autofocus` where typing begins.
    const first = panel.current?.querySelector<HTMLElement>('[data-autofocus]') ?? panel.current
    first?.focus({ preventScroll: true })
    return () => {
      // Closed from within: the keyboard goes on where it was, not at the top of the page.
      if (document.activeElement !== document.body) return
      const from = before instanceof HTMLElement && before !== document.body && before.isConnected ? before : null
      // A click on a row leaves the focus on a cell; the keys belong to the grid.
      const back = from?.closest<HTMLElement>('[role="grid"]') ?? from ?? document.getElementById('content')
      back?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <aside ref={panel} className={classes.panel} aria-label={label} tabIndex={-1}>
      <div className={classes.tools}>
        {tools}
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
            aria-label={strings.openTheFullPage}
            title={strings.openTheFullPage}
          >
            <Icon name="external" />
          </ActionIcon>
        )}
        <ActionIcon variant="subtle" color="gray" onClick={close} aria-label={strings.close} title={strings.closeEsc}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      {children}
    </aside>
  )
}

/** The head of a drawer: title and menu, clear of the close button. */
export const SidePanelHead = ({ children }: { children: ReactNode }) => (
  <header className={classes.head}>{children}</header>
)
