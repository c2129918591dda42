import { useEffect } from 'react'
import { strings } from './strings.ts'

/** Names the page in the browser's tab and history. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = strings.titlePortcullis({ title })
  }, [title])
}
