import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type BodyOf, previewPolicy } from '#features/contract.ts'

/** A change of the rules, or a decision about devices. */
export type PreviewDraft = BodyOf<typeof previewPolicy>

// Requests start only after a pause in typing.
const typingPause = 250

/** Returns the value once it has not changed for a moment. */
const useSettled = (text: string | null): string | null => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingPause)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Reads the preview of a change of the rules, again after every edit. Null disables it. */
export const usePreview = (draft: PreviewDraft | null) => {
  const text = draft === null ? null : JSON.stringify(draft)
  const settled = useSettled(text)
  const answer = useRead(['policy-preview', settled], previewPolicy, {
    body: JSON.parse(settled as string) as PreviewDraft,
    enabled: settled !== null && text !== null,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
  })
  return {
    preview: text === null ? undefined : answer.data,
    failure: text === null ? null : answer.error,
    /** The preview belongs to an earlier draft. */
    isStale: text !== null && (text !== settled || answer.isFetching),
    retry: () => void answer.refetch(),
  }
}
