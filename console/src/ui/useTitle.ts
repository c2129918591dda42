import { useEffect } from 'react'

/** Names the page in the browser's tab and history. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Portcullis`
  }, [title])
}
