import type { MouseEvent } from 'react'

/**
 * True if a click on a row opens it. Clicks on controls inside it, clicks that select text, and clicks for a new tab do
 * not.
 */
export const isOpening = (event: MouseEvent<HTMLElement>): boolean =>
  event.button === 0 &&
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) &&
  (event.target as HTMLElement).closest('a, button, input, label, summary, [data-own-click]') === null &&
  (window.getSelection()?.isCollapsed ?? true)
