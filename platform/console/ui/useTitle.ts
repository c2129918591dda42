import { useEffect } from 'react'
import { strings } from './strings.ts'

/** Sets the title of the browser tab. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = strings.pageTitle({ title })
  }, [title])
}
